// The service's times in the form it documents, quotes included, eight characters at a time. A book
// repeats a few days, so a column remembers the last one.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "tradingdata/time.hpp"

namespace tradingdata::detail {

struct ClockText {
  static constexpr int date_length = 10;
  static constexpr int timestamp_length = 19;

  // Seconds since midnight of HH:MM:SS, or -1.
  static std::int64_t seconds(const char* text) {
    if constexpr (std::endian::native != std::endian::little) return -1;
    std::uint64_t word;
    std::memcpy(&word, text, sizeof word);
    word ^= 0x30303A30303A3030;  // digits become 0..9, colons 0
    // A digit above 9, or a colon that is none, carries into its byte's top bit.
    if (((word | (word + 0x76767F76767F7676)) & 0x8080808080808080) != 0) return -1;
    const auto two = [word](int shift) {
      return static_cast<std::int64_t>((word >> shift & 0xFF) * 10 + (word >> (shift + 8) & 0xFF));
    };
    const std::int64_t hour = two(0);
    const std::int64_t minute = two(24);
    const std::int64_t second = two(48);
    if (hour > 23 || minute > 59 || second > 59) return -1;
    return hour * 3600 + minute * 60 + second;
  }
};

class DateMemo {
 public:
  // Whether the text at `quote` is "YYYY-MM-DD", and the day that was kept.
  bool is_repeated(const char* quote) const {
    return starts_repeated(quote) && quote[ClockText::date_length + 1] == '"';
  }

  // Reads "YYYY-MM-DD HH:MM:SS"; false where it is not that, or of another day than the kept one.
  bool read_timestamp(const char* quote, std::int64_t& micros) const {
    if (!starts_repeated(quote) || zero_ || quote[ClockText::date_length + 1] != ' ' ||
        quote[ClockText::timestamp_length + 1] != '"') {
      return false;
    }
    const std::int64_t seconds = ClockText::seconds(quote + ClockText::date_length + 2);
    if (seconds < 0) return false;
    micros = day_micros_ + seconds * micros_per_second;
    return true;
  }

  // Keeps the day that the text behind `quote` begins with; it was found to be sound.
  void keep(const char* quote, std::int32_t days, bool zero) {
    std::memcpy(text_, quote, sizeof text_);
    day_micros_ = days * micros_per_day;
    days_ = days;
    zero_ = zero;
  }

  std::int32_t days() const { return days_; }
  bool is_zero() const { return zero_; }

 private:
  // The quote and the ten characters of the day.
  bool starts_repeated(const char* quote) const {
    std::uint64_t a, b;
    std::uint32_t c, d;
    std::memcpy(&a, quote, sizeof a);
    std::memcpy(&b, text_, sizeof b);
    std::memcpy(&c, quote + 7, sizeof c);
    std::memcpy(&d, text_ + 7, sizeof d);
    return a == b && c == d;
  }

  char text_[ClockText::date_length + 1] = {};
  std::int64_t day_micros_ = 0;
  std::int32_t days_ = 0;
  bool zero_ = false;
};

}  // namespace tradingdata::detail
