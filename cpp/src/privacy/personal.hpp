// What is personal in a record, and how it is masked: in columns, kept bodies, displays and errors
// alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradingdata {

// The length of the name of a personal field at the beginning of a text, or 0. Upper and lower case
// are alike, and marks between the letters do not count: pan_no, PAN_NO, panNo, Pan-No.
std::size_t personal_name_at(std::string_view text);
bool is_personal_name(std::string_view name);

// Masks a personal text: ABCDE1234F is ABXXXXXX4F, and text that is not ten letters and digits is
// all X. Their order does not matter, so that text that is already masked is masked alike.
void mask(char* text, std::size_t size);
std::string masked(std::string_view text);

// The same of each account number in a text that stands by itself: the symbol of a future may
// contain letters and digits of this shape.
std::string without_account_numbers(std::string_view text);

// Whether a text begins with five letters, four digits and a letter, which is the shape of a
// permanent account number.
inline constexpr std::size_t account_number_size = 10;
bool begins_with_account_number(std::string_view text);

}  // namespace tradingdata
