// Which orders are new, changed or gone between two books.
#include "table/diff.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/order_books.hpp"

using namespace order_books;

TEST_CASE("orders are new, changed in named fields, or gone") {
  const TablePtr before = orders({order("1", R"(, "status": "Pending", "price": 5)"),
                                  order("2", ""), order("3", R"(, "price": 7)")});
  const TablePtr after = orders({order("4", ""), order("3", R"(, "price": 7)"),
                                 order("1", R"(, "status": "Success", "price": 6)")});
  CHECK(described(between(before, after)) == Lines{"new 0", "changed 2<-0 status price", "gone 1"});
  CHECK(between(after, after).changes.empty());
  CHECK(described(between(orders({}), before)) == Lines{"new 0", "new 1", "new 2"});
  CHECK(described(between(before, orders({}))) == Lines{"gone 0", "gone 1", "gone 2"});
}

TEST_CASE("exchange, segment, number and leg tell orders apart, nulls among them") {
  const std::vector<std::string> keys{
      R"("exchange": "NSE", "segment": "E", "order_no": "1", "leg_no": 1)",
      R"("exchange": "BSE", "segment": "E", "order_no": "1", "leg_no": 1)",
      R"("exchange": "NSE", "segment": "D", "order_no": "1", "leg_no": 1)",
      R"("exchange": "NSE", "segment": "E", "order_no": "a number of many digits", "leg_no": 1)",
      R"("exchange": "NSE", "segment": "E", "order_no": "1", "leg_no": 2)",
      R"("exchange": "NSE", "segment": "E", "order_no": "1", "leg_no": null)",
      R"("exchange": null, "segment": null, "order_no": null, "leg_no": null)",
      R"("exchange": "", "segment": "", "order_no": "", "leg_no": 0)"};
  std::vector<std::string> reversed(keys.rbegin(), keys.rend());
  CHECK(between(orders(keys), orders(reversed)).changes.empty());
  CHECK(described(between(orders({keys[0]}), orders({keys[4]}))) == Lines{"new 0", "gone 0"});
  CHECK(between(orders({keys[7]}), orders({R"("exchange": "", "segment": "", "order_no": "",
                                              "leg_no": -0.0)"}))
            .changes.empty());
}

TEST_CASE("equal keys are matched by their occurrence") {
  const TablePtr before = orders({order("1", R"(, "price": 1)"), order("1", R"(, "price": 2)")});
  const TablePtr after = orders({order("1", R"(, "price": 1)"), order("2", ""),
                                 order("1", R"(, "price": 3)"), order("1", R"(, "price": 4)")});
  CHECK(described(between(before, after)) == Lines{"new 1", "changed 2<-1 price", "new 3"});
  CHECK(described(between(after, before)) == Lines{"changed 1<-2 price", "gone 1", "gone 3"});
}

TEST_CASE("parts of a book are compared as books") {
  const TablePtr table = orders({order("1", ""), order("2", ""), order("3", "")});
  const OrderDiff diff = diff_orders({table.get(), 1, 3}, {table.get(), 0, 2}, usual);
  CHECK(described(diff) == Lines{"new 2", "gone 0"});
  CHECK(diff_orders({table.get(), 1, 1}, {table.get(), 2, 2}, usual).changes.empty());
}

TEST_CASE("every order is found again in a book of many, in any order") {
  std::vector<std::string> members;
  for (int i = 0; i < 1000; ++i) {
    members.push_back(order("20261120000" + std::to_string(i / 2),
                            ", \"status\": \"a long status " + std::to_string(i % 2) + '"'));
  }
  const TablePtr before = orders(members);
  CHECK(between(before, orders(members)).changes.empty());
  std::vector<std::size_t> pairs(500);
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = i;
  std::shuffle(pairs.begin(), pairs.end(), std::mt19937(7));
  std::vector<std::string> shuffled;
  for (const std::size_t i : pairs) {
    shuffled.push_back(members[2 * i]);
    shuffled.push_back(members[2 * i + 1]);
  }
  CHECK(between(before, orders(shuffled)).changes.empty());
  shuffled[400] += R"(, "price": 1)";
  CHECK(described(between(before, orders(shuffled))) ==
        Lines{"changed 400<-" + std::to_string(2 * pairs[200]) + " price"});
}

namespace {

// Numbers of 16 letters and digits that collide under the hash that diffs once used, whatever its
// seed was: the second word makes the hash of every text the same.
std::vector<std::string> colliding_numbers(std::size_t count) {
  constexpr std::uint64_t wanted = 0x0123456789ABCDEF;
  const auto mixed = [](std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15;
    return hash ^ hash >> 32;
  };
  std::vector<std::string> numbers;
  std::mt19937_64 random(1);
  while (numbers.size() < count) {
    const std::uint64_t first = (random() & 0x0F0F0F0F0F0F0F0F) | 0x6060606060606060;
    const std::uint64_t second = mixed(16, first) ^ wanted;
    constexpr std::uint64_t tops = 0x8080808080808080;
    const bool is_plain = (second & tops) == 0 && ((second + 0x5050505050505050) & tops) == tops;
    if (!is_plain) continue;
    std::string number(16, ' ');
    std::memcpy(number.data(), &first, 8);
    std::memcpy(number.data() + 8, &second, 8);
    if (number.find('\\') == std::string::npos) numbers.push_back(number);
  }
  return numbers;
}

// The least processor time of a few diffs of orders in the opposite order.
std::clock_t time_of_diff(std::vector<std::string> numbers) {
  for (std::string& number : numbers) number = order(number, "");
  const TablePtr before = orders(numbers);
  std::reverse(numbers.begin(), numbers.end());
  const TablePtr after = orders(numbers);
  std::clock_t least = std::numeric_limits<std::clock_t>::max();
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    CHECK(between(before, after).changes.empty());
    least = std::min(least, std::clock() - begin);
  }
  return least;
}

}  // namespace

TEST_CASE("F125: order numbers that collide under a fixed hash do not slow a diff") {
  constexpr std::size_t count = 6000;
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < count; ++i)
    plain.push_back(std::to_string(1'000'000'000'000'000 + i));
  CHECK(time_of_diff(colliding_numbers(count)) < 20 * time_of_diff(plain));
}

TEST_CASE("F105: a diff ends with what its caller throws now and then") {
  struct Stop {};
  std::vector<std::string> members;
  for (int i = 0; i < 3000; ++i) members.push_back(order(std::to_string(i), ""));
  const TablePtr before = orders(members);
  std::shuffle(members.begin(), members.end(), std::mt19937(7));
  const TablePtr after = orders(members);
  for (const TablePtr& now : {before, after}) {
    int calls = 0;
    diff_orders(all(now), all(before), usual, [&] { ++calls; });
    CHECK(calls > 10);
    for (int left = 0; left < calls; ++left) {
      const auto stop = [left]() mutable {
        if (left-- == 0) throw Stop();
      };
      CHECK_THROWS_AS(diff_orders(all(now), all(before), usual, stop), Stop);
    }
  }
}

TEST_CASE("only books of orders have a diff") {
  const TablePtr trades = decode_list(trade_schema, Buffer("[]"), {});
  CHECK_THROWS_AS(between(trades, orders({})), std::invalid_argument);
  CHECK_THROWS_AS(between(orders({}), trades), std::invalid_argument);
}
