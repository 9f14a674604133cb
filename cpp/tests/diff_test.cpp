#include "tradingdata/diff.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "decoding.hpp"
#include "tradingdata/records.hpp"

using namespace tradingdata;

namespace {

const std::vector<std::string> usual{"row_no", "ref_ltp"};

// The members of one order each, without its braces.
TablePtr orders(const std::vector<std::string>& members, bool keep_personal_data = false) {
  std::string body = R"({"status": "success", "message": "", "data": [)";
  for (std::size_t i = 0; i < members.size(); ++i) body += (i == 0 ? "{" : ",{") + members[i] + "}";
  return decode_book(order_schema, Buffer(body + "]}"), {.keep_personal_data = keep_personal_data});
}

Slice all(const TablePtr& table) {
  return {table.get(), 0, table->rows()};
}

OrderDiff between(const TablePtr& previous, const TablePtr& now,
                  const std::vector<std::string>& ignore = usual) {
  return diff_orders(all(now), all(previous), ignore);
}

// "new 2", "changed 0<-1 status price", "gone 3".
std::string told(const OrderChange& change) {
  std::string text(name_of(change.kind));
  text += ' ' + std::to_string(change.row >= 0 ? change.row : change.previous);
  if (change.kind == ChangeKind::changed) text += "<-" + std::to_string(change.previous);
  for (const std::string_view field : change.fields) text += ' ' + std::string(field);
  return text;
}

std::vector<std::string> told(const OrderDiff& diff) {
  std::vector<std::string> lines;
  for (const OrderChange& change : diff.changes) lines.push_back(told(change));
  return lines;
}

using Lines = std::vector<std::string>;

std::string order(const std::string& number, const std::string& more) {
  return R"("exchange": "NSE", "segment": "E", "leg_no": 1, "order_no": ")" + number + "\"" + more;
}

}  // namespace

TEST_CASE("orders are new, changed in named fields, or gone") {
  const TablePtr before = orders({order("1", R"(, "status": "Pending", "price": 5)"),
                                  order("2", ""), order("3", R"(, "symbol": "INFY")")});
  const TablePtr after = orders({order("4", ""), order("3", R"(, "symbol": "INFY")"),
                                 order("1", R"(, "status": "Success", "price": 6)")});
  CHECK(told(between(before, after)) == Lines{"new 0", "changed 2<-0 status price", "gone 1"});
  CHECK(between(after, after).changes.empty());
  CHECK(told(between(orders({}), before)) == Lines{"new 0", "new 1", "new 2"});
  CHECK(told(between(before, orders({}))) == Lines{"gone 0", "gone 1", "gone 2"});
}

TEST_CASE("time stamps never count, the ignored fields do not, and can be chosen") {
  const TablePtr before = orders({order("1", R"(, "row_no": 1, "ref_ltp": 2, "price": 3,
      "last_updated_time": "2026-11-20 09:15:00", "expiry_date": "2026-11-26")")});
  const TablePtr after = orders({order("1", R"(, "row_no": 9, "ref_ltp": 9, "price": 9,
      "last_updated_time": "2026-11-20 09:16:00", "expiry_date": "2026-12-31")")});
  CHECK(told(between(before, after)) == Lines{"changed 0<-0 price expiry_date"});
  CHECK(told(between(before, after, {})) == Lines{"changed 0<-0 price row_no expiry_date ref_ltp"});
  CHECK(between(before, after, {"row_no", "ref_ltp", "price", "expiry_date"}).changes.empty());
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
  CHECK(told(between(orders({keys[0]}), orders({keys[4]}))) == Lines{"new 0", "gone 0"});
  CHECK(between(orders({keys[7]}), orders({R"("exchange": "", "segment": "", "order_no": "",
                                              "leg_no": -0.0)"}))
            .changes.empty());
}

TEST_CASE("equal keys are matched by their occurrence") {
  const TablePtr before = orders({order("1", R"(, "price": 1)"), order("1", R"(, "price": 2)")});
  const TablePtr after = orders({order("1", R"(, "price": 1)"), order("2", ""),
                                 order("1", R"(, "price": 3)"), order("1", R"(, "price": 4)")});
  CHECK(told(between(before, after)) == Lines{"new 1", "changed 2<-1 price", "new 3"});
  CHECK(told(between(after, before)) == Lines{"changed 1<-2 price", "gone 1", "gone 3"});
}

TEST_CASE("unknown fields count as they were sent, wherever they stand") {
  const TablePtr before = orders({order("1", R"(, "more": 1, "mood": [1, 2])"), order("2", "")});
  const TablePtr moved =
      orders({R"("mood": [1, 2], )" + order("1", R"(, "more": 1)"), order("2", "")});
  CHECK(between(before, moved).changes.empty());
  const TablePtr after = orders({order("1", R"(, "mood": [1,2])"), order("2", R"(, "new": {})")});
  CHECK(told(between(before, after)) == Lines{"changed 0<-0 mood more", "changed 1<-1 new"});
  CHECK(told(between(before, after, {"more", "new"})) == Lines{"changed 0<-0 mood"});
}

TEST_CASE("long, escaped and missing text is compared by what it says") {
  const TablePtr before = orders({order("1", R"(, "remarks": "thirteen byte", "remarks1": "a\nb",
      "remarks2": null, "source": "")")});
  const TablePtr same = orders({order("1", R"(, "source": "", "remarks2": null,
      "remarks1": "a\u000ab", "remarks": "thirteen \u0062yte")")});
  CHECK(between(before, same).changes.empty());
  const TablePtr after = orders({order("1", R"(, "remarks": "thirteen bytE", "remarks1": "a\nc",
      "remarks2": "", "source": null)")});
  CHECK(told(between(before, after)) == Lines{"changed 0<-0 remarks remarks1 remarks2 source"});
}

TEST_CASE("parts of a book are compared as books") {
  const TablePtr table = orders({order("1", ""), order("2", ""), order("3", "")});
  const OrderDiff diff = diff_orders({table.get(), 1, 3}, {table.get(), 0, 2}, usual);
  CHECK(told(diff) == Lines{"new 2", "gone 0"});
  CHECK(diff_orders({table.get(), 1, 1}, {table.get(), 2, 2}, usual).changes.empty());
}

TEST_CASE("an account number that one side masks is no change; another number is") {
  const std::string mine = order("1", R"(, "pan_no": "ABCDE1234F")");
  CHECK(between(orders({mine}, true), orders({mine})).changes.empty());
  CHECK(between(orders({mine}), orders({mine}, true)).changes.empty());
  const std::string other = order("1", R"(, "pan_no": "QQCDE1234F")");
  CHECK(told(between(orders({mine}, true), orders({other}))) == Lines{"changed 0<-0 pan_no"});
}

TEST_CASE("an order that was updated before it was known is told as older") {
  const auto at = [](const std::string& number, const char* time) {
    return order(number, std::string(R"(, "last_updated_time": )") + time);
  };
  const TablePtr before = orders(
      {at("1", R"("2026-11-20 09:15:02")"), at("2", "null"), at("1", R"("2026-11-20 09:15:02")")});
  const TablePtr after =
      orders({at("2", R"("2026-11-20 09:15:00")"), at("1", R"("2026-11-20 09:15:02")"),
              at("1", R"("2026-11-20 09:15:01")")});
  const OrderDiff diff = between(before, after);
  CHECK(diff.changes.empty());
  REQUIRE(diff.older.size() == 1);
  CHECK(diff.older[0].row == 2);
  CHECK(diff.older[0].previous == 2);
  CHECK(diff.older[0].occurrence == 1);
}

TEST_CASE("every order is found again in a book of many, in any order") {
  std::vector<std::string> members;
  for (int i = 0; i < 1000; ++i) {
    members.push_back(order("20261120000" + std::to_string(i / 2),
                            ", \"symbol\": \"a long symbol " + std::to_string(i % 2) + '"'));
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
  CHECK(told(between(before, orders(shuffled))) ==
        Lines{"changed 400<-" + std::to_string(2 * pairs[200]) + " price"});
}

TEST_CASE("only books of orders have a diff") {
  const TablePtr trades = decode_list(trade_schema, Buffer("[]"), {});
  CHECK_THROWS_AS(between(trades, orders({})), std::invalid_argument);
  CHECK_THROWS_AS(between(orders({}), trades), std::invalid_argument);
}
