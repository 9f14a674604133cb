// Which differences between two states of an order count.
#include "table/diff.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/order_books.hpp"

using namespace order_books;

TEST_CASE("time stamps never count, the ignored fields do not, and can be chosen") {
  const TablePtr before = orders({order("1", R"(, "row_no": 1, "ref_ltp": 2, "price": 3,
      "last_updated_time": "2026-11-20 09:15:00", "expiry_date": "2026-11-26")")});
  const TablePtr after = orders({order("1", R"(, "row_no": 9, "ref_ltp": 9, "price": 9,
      "last_updated_time": "2026-11-20 09:16:00", "expiry_date": "2026-12-31")")});
  CHECK(described(between(before, after)) == Lines{"changed 0<-0 price expiry_date"});
  CHECK(described(between(before, after, {})) ==
        Lines{"changed 0<-0 price row_no expiry_date ref_ltp"});
  CHECK(between(before, after, {"row_no", "ref_ltp", "price", "expiry_date"}).changes.empty());
}

TEST_CASE("unknown fields are compared as sent, in any order") {
  const TablePtr before = orders({order("1", R"(, "more": 1, "mood": [1, 2])"), order("2", "")});
  const TablePtr moved =
      orders({R"("mood": [1, 2], )" + order("1", R"(, "more": 1)"), order("2", "")});
  CHECK(between(before, moved).changes.empty());
  const TablePtr after = orders({order("1", R"(, "mood": [1,2])"), order("2", R"(, "new": {})")});
  CHECK(described(between(before, after)) == Lines{"changed 0<-0 mood more", "changed 1<-1 new"});
  CHECK(described(between(before, after, {"more", "new"})) == Lines{"changed 0<-0 mood"});
}

TEST_CASE("long, escaped and missing text is compared by what it says") {
  const TablePtr before = orders({order("1", R"(, "remarks": "thirteen byte", "remarks1": "a\nb")"),
                                  order("2", R"(, "remarks": null, "remarks1": "")")});
  const TablePtr same =
      orders({order("1", R"(, "remarks1": "a\u000ab", "remarks": "thirteen \u0062yte")"),
              order("2", R"(, "remarks1": "", "remarks": null)")});
  CHECK(between(before, same).changes.empty());
  const TablePtr after = orders({order("1", R"(, "remarks": "thirteen bytE", "remarks1": "a\nc")"),
                                 order("2", R"(, "remarks": "", "remarks1": null)")});
  CHECK(described(between(before, after)) ==
        Lines{"changed 0<-0 remarks remarks1", "changed 1<-1 remarks remarks1"});
}

TEST_CASE("an account number that one side masks is no change; a different number is") {
  const std::string mine = order("1", R"(, "pan_no": "ABCDE1234F")");
  CHECK(between(orders({mine}, true), orders({mine})).changes.empty());
  CHECK(between(orders({mine}), orders({mine}, true)).changes.empty());
  const std::string other = order("1", R"(, "pan_no": "QQCDE1234F")");
  CHECK(described(between(orders({mine}, true), orders({other}))) == Lines{"changed 0<-0 pan_no"});
}

TEST_CASE("an order that was updated earlier than its previous state is reported as older") {
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
