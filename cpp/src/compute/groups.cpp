// Hashes keys column by column, then finds each row's group in an open-addressing table.
#include "compute/groups.hpp"

#include <bit>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string_view>

#include "base/time.hpp"
#include "compute/exact.hpp"

namespace tradingdata {

namespace {

// Differs from call to call, so that no body can be prepared whose keys all collide.
std::uint64_t hash_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

// Both halves of the product count: in the lower one alone, a difference in the highest bit stays
// where it is, whatever the seed, and the next word could cancel it.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t bits) {
  const uint128 product = uint128{hash ^ bits} * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  hash = mixed(hash, text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), size);
    hash = mixed(hash, word);
    text.remove_prefix(size);
  }
  return hash;
}

// A cell that is no text, as bits that are equal for equal values; `row` is one of the table.
std::uint64_t bits_of(const Table& table, const KeyField& key, std::int64_t row) {
  const Column& column = table.column(key.field);
  switch (table.schema().field(key.field).kind) {
    case Kind::date: return static_cast<std::uint64_t>(column.as<std::int32_t>()[row]);
    case Kind::number: return std::bit_cast<std::uint64_t>(column.as<double>()[row] + 0.0);
    default: {
      const std::int64_t value = column.as<std::int64_t>()[row];
      return static_cast<std::uint64_t>(key.day ? day_of(value) : value);
    }
  }
}

bool is_text(const Table& table, const KeyField& key) {
  return table.schema().field(key.field).kind == Kind::text;
}

bool same_cell(const Table& a, const KeyField& key_a, std::int64_t row_a, const Table& b,
               const KeyField& key_b, std::int64_t row_b) {
  const bool known = a.valid(key_a.field, row_a);
  if (known != b.valid(key_b.field, row_b)) return false;
  if (!known) return true;
  if (!is_text(a, key_a)) return bits_of(a, key_a, row_a) == bits_of(b, key_b, row_b);
  const TextView& view_a = a.column(key_a.field).as<TextView>()[row_a];
  const TextView& view_b = b.column(key_b.field).as<TextView>()[row_b];
  if (view_a.is_inline()) return std::memcmp(&view_a, &view_b, sizeof view_a) == 0;
  return a.text(view_a) == b.text(view_b);
}

void add_hashes(std::vector<std::uint64_t>& hashes, const Slice& rows,
                std::span<const KeyField> key) {
  const Table& table = *rows.table;
  std::uint64_t salt = 0;  // so that a value in another field gives another hash
  for (const KeyField& field : key) {
    ++salt;
    const bool text = is_text(table, field);
    std::int64_t row = rows.start;
    for (std::uint64_t& hash : hashes) {
      if (table.valid(field.field, row)) {
        hash = text ? mixed(hash + salt, table.text(field.field, row))
                    : mixed(hash + salt, bits_of(table, field, row));
      }
      ++row;
    }
  }
}

// Where the first row of a group is.
struct Place {
  const GroupedRows* part;
  std::int64_t row;
};

class GroupFinder {
 public:
  explicit GroupFinder(std::int64_t rows)
      : slots_(std::bit_ceil(static_cast<std::size_t>(rows) * 2 + 1), -1) {}

  std::int32_t find(std::uint64_t hash, const Place& place) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = (hash ^ hash >> 32) & mask;; slot = (slot + 1) & mask) {
      std::int32_t& group = slots_[slot];
      if (group < 0) {
        group = static_cast<std::int32_t>(places_.size());
        places_.push_back(place);
        hashes_.push_back(hash);
        return group;
      }
      const auto at = static_cast<std::size_t>(group);
      if (hashes_[at] == hash && same_key(places_[at], place)) return group;
    }
  }

  std::size_t count() const { return places_.size(); }

 private:
  static bool same_key(const Place& a, const Place& b) {
    for (std::size_t i = 0; i < a.part->key.size(); ++i) {
      if (!same_cell(*a.part->rows.table, a.part->key[i], a.row, *b.part->rows.table,
                     b.part->key[i], b.row))
        return false;
    }
    return true;
  }

  std::vector<std::int32_t> slots_;
  std::vector<Place> places_;
  std::vector<std::uint64_t> hashes_;
};

void find_ends(GroupPart& part, std::size_t groups) {
  part.count.assign(groups, 0);
  part.first.assign(groups, -1);
  part.last.assign(groups, -1);
  std::int64_t row = 0;
  for (const std::int32_t number : part.group) {
    const auto group = static_cast<std::size_t>(number);
    if (part.count[group]++ == 0) part.first[group] = row;
    part.last[group] = row++;
  }
}

}  // namespace

Groups group_rows(std::span<const GroupedRows> parts) {
  std::int64_t total = 0;
  for (const GroupedRows& part : parts) total += part.rows.size();
  if (total > INT32_MAX) throw std::length_error("more than 2^31 rows cannot be grouped");
  GroupFinder finder(total);
  const std::uint64_t seed = hash_seed();
  Groups groups;
  for (const GroupedRows& given : parts) {
    GroupPart& part = groups.parts.emplace_back();
    part.rows = given.rows;
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(part.size()), seed);
    add_hashes(hashes, given.rows, given.key);
    part.group.reserve(hashes.size());
    std::int64_t row = given.rows.start;
    for (const std::uint64_t hash : hashes)
      part.group.push_back(finder.find(hash, {&given, row++}));
  }
  groups.count = static_cast<std::int64_t>(finder.count());
  for (GroupPart& part : groups.parts) find_ends(part, finder.count());
  return groups;
}

std::vector<std::int32_t> coarser(const Groups& groups, std::span<const GroupedRows> parts) {
  GroupFinder finder(groups.count);
  const std::uint64_t seed = hash_seed();
  std::vector<std::int32_t> numbers;
  for (std::size_t group = 0; group < static_cast<std::size_t>(groups.count); ++group) {
    std::size_t at = 0;
    while (groups.parts[at].first[group] < 0) ++at;  // each group has a row in some part
    const GroupedRows& part = parts[at];
    const std::int64_t row = part.rows.start + groups.parts[at].first[group];
    std::vector<std::uint64_t> hash(1, seed);
    add_hashes(hash, {part.rows.table, row, row + 1}, part.key);
    numbers.push_back(finder.find(hash[0], {&part, row}));
  }
  return numbers;
}

Amounts amounts_of(const Slice& rows, int field, int decimals) {
  const Column& column = rows.table->column(field);
  Amounts made;
  const bool whole = rows.table->schema().field(field).kind != Kind::number;
  std::vector<double> values;
  for (std::int64_t row = rows.start; row < rows.stop; ++row) {
    const bool known = column.valid(row);
    made.known.push_back(known);
    if (whole) {
      made.units.push_back(known ? column.as<std::int64_t>()[row] : 0);
    } else {
      values.push_back(known ? column.as<double>()[row] : 0);
    }
  }
  if (!whole) made.units = in_units(values, decimals);
  return made;
}

int decimals_of(const Slice& rows, int field, int so_far) {
  if (rows.table->schema().field(field).kind != Kind::number) return so_far;
  const Column& column = rows.table->column(field);
  std::vector<double> values;
  for (std::int64_t row = rows.start; row < rows.stop; ++row) {
    if (column.valid(row)) values.push_back(column.as<double>()[row]);
  }
  return decimals_of(values, so_far);
}

Amounts sums(const GroupPart& part, const Amounts& amounts) {
  Amounts made{.units = std::vector<int128>(part.count.size()),
               .known = std::vector<bool>(part.count.size(), true)};
  for (std::size_t row = 0; row < part.group.size(); ++row) {
    const auto group = static_cast<std::size_t>(part.group[row]);
    if (amounts.known[row]) {
      made.units[group] = sum_of(made.units[group], amounts.units[row]);
    } else {
      made.known[group] = false;
    }
  }
  return made;
}

Amounts products(const Amounts& quantities, const Amounts& prices) {
  Amounts made;
  for (std::size_t row = 0; row < quantities.units.size(); ++row) {
    const bool is_zero = quantities.known[row] && quantities.units[row] == 0;
    made.known.push_back(is_zero || (quantities.known[row] && prices.known[row]));
    made.units.push_back(product_of(quantities.units[row], prices.units[row]));
  }
  return made;
}

std::vector<std::uint8_t> likenesses(const GroupPart& part, int field) {
  std::vector<std::uint8_t> result(part.count.size());
  std::vector<std::int64_t> known(part.count.size(), -1);
  const Table& table = *part.rows.table;
  const KeyField key{field};
  std::int64_t row = part.rows.start;
  for (const std::int32_t number : part.group) {
    const auto group = static_cast<std::size_t>(number);
    if (!table.valid(field, row)) {
      result[group] |= static_cast<std::uint8_t>(Likeness::some_missing);
    } else if (known[group] < 0) {
      known[group] = row;
      result[group] |= static_cast<std::uint8_t>(Likeness::same);
    } else if (!same_cell(table, key, known[group], table, key, row)) {
      result[group] |= static_cast<std::uint8_t>(Likeness::different);
    }
    ++row;
  }
  return result;
}

std::vector<std::int64_t> extreme_rows(const GroupPart& part, int field, bool greatest) {
  std::vector<std::int64_t> found(part.count.size(), -1);
  const Column& column = part.rows.table->column(field);
  const auto* const values = column.as<std::int64_t>() + part.rows.start;
  for (std::size_t row = 0; row < part.group.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    if (!column.valid(part.rows.start + at)) continue;
    std::int64_t& best = found[static_cast<std::size_t>(part.group[row])];
    if (best < 0 || (greatest ? values[at] > values[best] : values[at] < values[best])) best = at;
  }
  return found;
}

}  // namespace tradingdata
