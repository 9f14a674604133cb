#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "base/ascii.hpp"
#include "client/retry.hpp"

namespace tradingdata {

namespace {

constexpr double longest_plausible = 366.0 * 24 * 3600;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Reads a date from its left end; every step fails for good once one has failed.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

  void skip_to(char mark) {
    const std::size_t at = rest_.find(mark);
    good_ = good_ && at != std::string_view::npos;
    if (good_) rest_.remove_prefix(at + 1);
  }

  void skip(std::string_view text) {
    good_ = good_ && rest_.starts_with(text);
    if (good_) rest_.remove_prefix(text.size());
  }

  int number(std::size_t digits) {
    int value = 0;
    good_ =
        good_ && rest_.size() >= digits &&
        std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(digits), is_digit);
    if (!good_) return 0;
    std::from_chars(rest_.data(), rest_.data() + digits, value);
    rest_.remove_prefix(digits);
    return value;
  }

  int day_of_asctime() {
    if (!rest_.starts_with(' ')) return number(2);
    rest_.remove_prefix(1);
    return number(1);
  }

  int month() {
    constexpr std::string_view names = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t at = rest_.size() >= 3 ? names.find(rest_.substr(0, 3)) : names.npos;
    good_ = good_ && at != std::string_view::npos && at % 3 == 0;
    if (!good_) return 0;
    rest_.remove_prefix(3);
    return static_cast<int>(at / 3) + 1;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

struct Civil {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

std::optional<std::int64_t> epoch_seconds(const Civil& at) {
  const std::chrono::year_month_day date{std::chrono::year(at.year),
                                         std::chrono::month(static_cast<unsigned>(at.month)),
                                         std::chrono::day(static_cast<unsigned>(at.day))};
  if (!date.ok() || at.hour > 23 || at.minute > 59 || at.second > 60) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return std::int64_t{days} * 86400 + at.hour * 3600 + at.minute * 60 + at.second;
}

void read_time(DateReader& reader, Civil& at) {
  at.hour = reader.number(2);
  reader.skip(":");
  at.minute = reader.number(2);
  reader.skip(":");
  at.second = reader.number(2);
}

}  // namespace

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  Civil at;
  DateReader reader(trimmed(text));
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) {  // asctime: Sun Nov  6 08:49:37 1994
    reader.skip_to(' ');
    at.month = reader.month();
    reader.skip(" ");
    at.day = reader.day_of_asctime();
    reader.skip(" ");
    read_time(reader, at);
    reader.skip(" ");
    at.year = reader.number(4);
  } else {
    reader.skip_to(',');
    reader.skip(" ");
    at.day = reader.number(2);
    const bool obsolete = text.find('-') != std::string_view::npos;  // 06-Nov-94
    reader.skip(obsolete ? "-" : " ");
    at.month = reader.month();
    reader.skip(obsolete ? "-" : " ");
    at.year = reader.number(obsolete ? 2 : 4);
    if (obsolete) at.year += at.year < 70 ? 2000 : 1900;
    reader.skip(" ");
    read_time(reader, at);
    reader.skip(" GMT");
  }
  return reader.at_end() ? epoch_seconds(at) : std::nullopt;
}

namespace {

// Digits, perhaps with a fraction: no sign, no exponent.
std::optional<double> parse_seconds(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view("0") : text.substr(point + 1);
  const auto digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_digit);
  };
  if (!digits(whole) || !digits(fraction)) return std::nullopt;
  double value = 0;
  for (const char digit : whole) value = value * 10 + (digit - '0');
  double place = 1;
  for (const char digit : fraction) value += (digit - '0') * (place /= 10);
  return value;
}

}  // namespace

std::optional<double> retry_after_seconds(std::string_view value,
                                          std::optional<std::string_view> date,
                                          std::int64_t wall_micros) {
  const std::string_view text = trimmed(value);
  std::optional<double> seconds = parse_seconds(text);
  if (!seconds) {
    const std::optional<std::int64_t> then = parse_http_date(text);
    if (!then) return std::nullopt;
    const std::optional<std::int64_t> server_now = date ? parse_http_date(*date) : std::nullopt;
    seconds = server_now ? static_cast<double>(*then - *server_now)
                         : static_cast<double>(*then) - static_cast<double>(wall_micros) / 1e6;
  }
  if (*seconds > longest_plausible) return std::nullopt;
  return std::max(*seconds, 0.0);
}

}  // namespace tradingdata
