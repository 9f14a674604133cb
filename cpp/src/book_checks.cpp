#include "book_checks.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tradingdata/records.hpp"

namespace tradingdata::detail {

namespace {

// What names a trade: its number is unique on its exchange and segment.
constexpr std::array trade_key{trade_schema["trade_no"], trade_schema["exchange"],
                               trade_schema["segment"]};

void note(Table& table, int field, Problem problem, std::int64_t row, std::int64_t count) {
  const std::string_view name = table.schema().fields[static_cast<std::size_t>(field)].name;
  std::string raw("\"");
  raw += table.text(field, row).substr(0, 64);
  raw += '"';
  table.issues.push_back(Issue{std::string(name), problem, count, row, raw});
}

bool same_text(const Table& table, int field, std::int64_t a, std::int64_t b) {
  const auto* const views = table.column(field).as<TextView>();
  if (std::memcmp(&views[a], &views[b], sizeof(TextView)) == 0) return true;
  return !views[a].is_inline() && table.text(views[a]) == table.text(views[b]);
}

void check_clients(Table& table, int field) {
  std::int64_t first = -1;
  std::int64_t other = -1;
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (!table.valid(field, row)) continue;
    if (first < 0) first = row;
    if (same_text(table, field, first, row)) continue;
    if (count++ == 0) other = row;
  }
  if (count > 0) note(table, field, Problem::several_clients, other, count);
}

// The rows by their key, in open addressing.
class SeenTrades {
 public:
  explicit SeenTrades(const Table& table)
      : table_(table),
        slots_(std::bit_ceil(static_cast<std::size_t>(table.rows()) * 2 + 1), -1),
        seed_(reinterpret_cast<std::uintptr_t>(slots_.data())) {}

  // Whether the row's trade was not there before.
  bool add(std::int64_t row) {
    for (std::size_t slot = hash(row);; ++slot) {
      std::int32_t& held = slots_[slot & (slots_.size() - 1)];
      if (held < 0) {
        held = static_cast<std::int32_t>(row);
        return true;
      }
      if (same_trade(held, row)) return false;
    }
  }

 private:
  std::size_t hash(std::int64_t row) const {
    std::uint64_t sum = seed_;  // differs from run to run: no body can be made to collide
    const auto mix = [&sum](std::uint64_t word) {
      sum = std::rotl(sum ^ word, 29) * 0x9E3779B97F4A7C15;
    };
    for (const int field : trade_key) {
      const TextView& view = table_.column(field).as<TextView>()[row];
      std::uint64_t words[2];
      if (view.is_inline()) {
        std::memcpy(words, &view, sizeof words);
        mix(words[0]);
        mix(words[1]);
        continue;
      }
      const std::string_view text = table_.text(view);
      for (std::size_t at = 0; at < text.size(); at += sizeof words[0]) {
        words[0] = 0;
        text.substr(at).copy(reinterpret_cast<char*>(words), sizeof words[0]);
        mix(words[0]);
      }
    }
    return static_cast<std::size_t>(sum ^ sum >> 32);
  }

  bool same_trade(std::int64_t a, std::int64_t b) const {
    for (const int field : trade_key) {
      if (!same_text(table_, field, a, b)) return false;
    }
    return true;
  }

  const Table& table_;
  std::vector<std::int32_t> slots_;
  std::uint64_t seed_;
};

void check_trades(Table& table) {
  SeenTrades seen(table);
  std::int64_t first = -1;
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (!table.valid(trade_key[0], row) || seen.add(row)) continue;
    if (count++ == 0) first = row;
  }
  if (count > 0) note(table, trade_key[0], Problem::repeated_trade, first, count);
}

}  // namespace

void check_book(Table& table) {
  if (table.rows() == 0) return;
  check_clients(table, table.schema().find("client_id"));
  if (&table.schema() == &trade_schema) check_trades(table);
}

}  // namespace tradingdata::detail
