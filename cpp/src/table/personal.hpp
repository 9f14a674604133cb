// What is personal in a record, and how it is masked: the one definition, for columns, kept bodies,
// displays and errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradingdata {

// The length of the name of a personal field at the beginning of a text, or 0. Upper and lower case
// are alike, and marks between the letters do not count: pan_no, PAN_NO, panNo, Pan-No.
std::size_t personal_name_at(std::string_view text);
bool is_personal_name(std::string_view name);

// A permanent account number has ten letters and digits. Their order does not matter here,
// so that text that is already masked is masked alike.
inline constexpr int account_number_length = 10;
bool is_account_number(const char* text);
void hide_account_number(char* text);  // all but two characters at either end

// Personal text, masked: ABCDE1234F is ABXXXXXX4F; anything of another shape is all X.
std::string masked(std::string_view text);

}  // namespace tradingdata
