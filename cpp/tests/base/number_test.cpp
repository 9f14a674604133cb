// JSON numbers: grammar, exact values and rounding, on both scanners.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "base/memory.hpp"
#include "base/number.hpp"

using namespace tradingdata;

namespace {

std::optional<std::int64_t> integer(const std::string& literal) {
  return integer_of(scan_number(literal.c_str()));
}

NumberFit fit(const std::string& literal, double& value) {
  return double_of(scan_number(literal.c_str()), literal, value);
}

double number(const std::string& literal) {
  double value = NAN;
  CHECK(fit(literal, value) == NumberFit::exact);
  return value;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string random_digits(std::mt19937_64& random, std::size_t count) {
  std::string text;
  while (text.size() < count) text += static_cast<char>('0' + random() % 10);
  return text;
}

// A literal with a fraction or an exponent, so that no integer beyond 2^53 is among them.
std::string random_literal(std::mt19937_64& random) {
  std::string text = random() % 4 == 0 ? "-" : "";
  text += random() % 3 == 0
              ? "0"
              : std::to_string(1 + random() % 9) + random_digits(random, random() % 20);
  const bool fraction = random() % 4 != 0;
  if (fraction)
    text += "." + random_digits(random, 1 + random() % (random() % 8 == 0 ? 40 : 12)) + "7";
  if (!fraction || random() % 3 == 0) {
    const int spread = random() % 2 == 0 ? 30 : 340;
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * spread)) - spread;
    text += (random() % 2 == 0 ? "e" : "E") + std::to_string(exponent);
  }
  return text;
}

}  // namespace

TEST_CASE("integers of 64 bits are exact, whatever their spelling, and no others are read") {
  CHECK(integer("9223372036854775807") == INT64_MAX);
  CHECK(integer("-9223372036854775808") == INT64_MIN);
  CHECK(integer("9223372036854775806") == INT64_MAX - 1);
  for (std::string beyond : {"9223372036854775808", "-9223372036854775809", "18446744073709551615",
                             "18446744073709551616", "36893488147419103232", "1e19", "1e400"}) {
    CHECK_FALSE(integer(beyond));
  }
  CHECK(integer("5.0") == 5);
  CHECK(integer("5e0") == 5);
  CHECK(integer("-5.000") == -5);
  CHECK(integer("0.5e1") == 5);
  CHECK(integer("500e-2") == 5);
  CHECK(integer("12E2") == 1200);
  CHECK(integer("-0") == 0);
  CHECK(integer("-0.0") == 0);
  CHECK(integer("0e999999") == 0);
  CHECK(integer("9223372036854775807.000") == INT64_MAX);
  CHECK(integer("5." + std::string(400, '0')) == 5);
  CHECK(integer("0." + std::string(400, '0')) == 0);
  CHECK(integer("0." + std::string(399, '0') + "7e400") == 7);
  CHECK(integer("1" + std::string(400, '0') + "e-400") == 1);
  const std::string long_one = "5." + std::string(400, '0') + "1";
  for (std::string fraction : {"5.5", "5e-1", "0.1", "1e-999", long_one.c_str()}) {
    CHECK_FALSE(integer(fraction));
  }
}

TEST_CASE("an integer beyond 2**53 would round in a number column, a fraction may") {
  double value = 0;
  CHECK(number("9007199254740992") == 0x1p53);
  CHECK(number("-9007199254740992") == -0x1p53);
  const std::string long_one = "1" + std::string(400, '0');
  for (std::string beyond :
       {"9007199254740993", "9007199254740993.0", "-9007199254740993.00", "9223372036854775807.0",
        "18446744073709551617", "100000000000000000000000"}) {
    CHECK(fit(beyond, value) == NumberFit::would_round);
  }
  CHECK(fit(long_one, value) == NumberFit::out_of_range);
  CHECK(number("9223372036854775808.0") == 9223372036854775808.0);
  CHECK(number("100000000000000000000") == 1e20);
  CHECK(number("9007199254740994") == 9007199254740994.0);
  CHECK(number("9007199254740994.0") == 9007199254740994.0);
  CHECK(number("9007199254740993.5") == 9007199254740994.0);
  CHECK(number("9007199254740993e0") == 9007199254740992.0);
  CHECK(number("1e22") == 1e22);
}

TEST_CASE("the ends of the range") {
  double value = 0;
  CHECK(fit("1e400", value) == NumberFit::out_of_range);
  CHECK(fit("-1e400", value) == NumberFit::out_of_range);
  CHECK(fit("1.7976931348623159e308", value) == NumberFit::out_of_range);
  CHECK(fit("1" + std::string(400, '0') + ".5", value) == NumberFit::out_of_range);
  CHECK(fit("1e99999999999999999999", value) == NumberFit::out_of_range);
  CHECK(number("1.7976931348623157e308") == 1.7976931348623157e308);
  CHECK(same_bits(number("1e-999"), 0.0));
  CHECK(same_bits(number("-1e-999"), -0.0));
  CHECK(same_bits(number("-0"), -0.0));
  CHECK(same_bits(number("-0.0"), -0.0));
  CHECK(same_bits(number("0e999999999999"), 0.0));
  CHECK(same_bits(number("5e-324"), 5e-324));
  CHECK(same_bits(number("2.4703282292062327e-324"), 0.0));
  CHECK(same_bits(number("2.4703282292062328e-324"), 5e-324));
  CHECK(same_bits(number("2.2250738585072011e-308"), 2.2250738585072011e-308));
  CHECK(number("0." + std::string(399, '0') + "1e400") == 1);
  CHECK(number("1" + std::string(400, '0') + "e-400") == 1);
  CHECK(number("0.30000000000000004") == 0.1 + 0.2);
}

TEST_CASE("an exponent of many digits does not come back as a small one") {
  // Two million zeros and an exponent that takes them all back but for what it says in excess.
  const std::string zeros = "0." + std::string(2'000'000, '0');
  double value = 0;
  CHECK(fit(zeros + "1e20000000", value) == NumberFit::out_of_range);
  CHECK(number(zeros + "1e2000001") == 1);
  CHECK_FALSE(integer(zeros + "1e20000001"));
  CHECK(integer(zeros + "1e2000001") == 1);
}

TEST_CASE("half a million literals are rounded as strtod rounds them") {
  std::mt19937_64 random(20'261'120);
  for (int i = 0; i < 500'000; ++i) {
    const std::string literal = random_literal(random);
    const double expected = std::strtod(literal.c_str(), nullptr);
    double value = 0;
    const NumberFit found = fit(literal, value);
    const bool right = std::isinf(expected)
                           ? found == NumberFit::out_of_range
                           : found == NumberFit::exact && same_bits(value, expected);
    if (!right) FAIL(literal << " is " << expected << ", read as " << value);
  }
}

TEST_CASE("halfway cases and long literals are rounded as strtod rounds them") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    // The exact middle between two neighbours, to 60 digits, and a hair beside it.
    const double low = std::bit_cast<double>(0x3FF0000000000000 + random() % (1ULL << 58));
    const long double middle = (static_cast<long double>(low) + std::nextafter(low, INFINITY)) / 2;
    char text[512];
    std::snprintf(text, sizeof text, "%.60Lf", middle);
    for (std::string literal : {std::string(text) + "e0", std::string(text) + "1"}) {
      if (!same_bits(number(literal), std::strtod(literal.c_str(), nullptr))) FAIL(literal);
    }
  }
  for (std::size_t count : {19u, 20u, 21u, 100u, 400u, 800u}) {
    for (int i = 0; i < 200; ++i) {
      const std::string literal = "1" + random_digits(random, count) + "." +
                                  random_digits(random, count) + "e-" + std::to_string(count);
      CHECK(same_bits(number(literal), std::strtod(literal.c_str(), nullptr)));
    }
  }
}

TEST_CASE("the short path reads what the long path reads, or leaves it to that") {
  std::mt19937_64 random(3);
  int read = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string literal = random() % 10 == 0 ? "-" : "";
    literal += random_digits(random, random() % 11);
    if (random() % 3 != 0) literal += "." + random_digits(random, random() % 11);
    if (random() % 10 == 0) literal += "e" + random_digits(random, random() % 3);
    constexpr std::string_view behind = ",}]. \n\"xe/:";
    const Buffer buffer(literal + behind[random() % behind.size()] + "123");
    const detail::ShortNumber found = detail::scan_short_number(buffer.data());
    if (found.end == nullptr) continue;
    ++read;
    const NumberScan scan = scan_number(buffer.data());
    double value = 0;
    if (scan.end != found.end) FAIL(buffer.view());
    CHECK(double_of(scan, {buffer.data(), static_cast<std::size_t>(scan.end - buffer.data())},
                    value) == NumberFit::exact);
    if (!same_bits(value, detail::value_of(found))) FAIL(buffer.view());
    CHECK(scan.integral == (found.decimals == 0));
  }
  CHECK(read > 100'000);
  for (std::string usual :
       {"0", "7", "1501", "1501.05", "0.05", "12.5", "12345678.12345", "99999999"}) {
    CHECK(detail::scan_short_number(Buffer(usual + ",").data()).end != nullptr);
  }
}
