// Groups rows by the hashes of their keys, and hashes anew in the rare case that two keys share
// one.
#include "compute/groups.hpp"

#include <bit>
#include <random>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "base/text.hpp"
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
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t bits) {
  const uint128 product = uint128{hash ^ bits} * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Adds the hash of a value, equal for equal values.
template <typename T>
inline std::uint64_t mixed_value(std::uint64_t hash, const Table& table, const T& value) {
  if constexpr (std::is_same_v<T, TextView>) {
    hash = mixed(hash, value.first_word());
    if (value.is_inline()) return mixed(hash, value.second_word());
    // A longer text is read in words too, the last one overlapping.
    constexpr std::int64_t word_size = sizeof(std::uint64_t);
    const std::string_view text = table.text(value);
    const char* const last = text.data() + text.size() - word_size;
    for (const char* at = text.data(); at < last; at += word_size)
      hash = mixed(hash, load_word(at));
    return mixed(hash, load_word(last));
  } else if constexpr (std::is_same_v<T, double>) {
    return mixed(hash, std::bit_cast<std::uint64_t>(value + 0.0));  // -0 equals 0
  } else {
    return mixed(hash, static_cast<std::uint64_t>(value));
  }
}

template <typename T>
inline bool same_value(const Table& a, const T& one, const Table& b, const T& other) {
  if constexpr (std::is_same_v<T, TextView>) {
    return same_text(a, one, b, other);
  } else {
    return one == other;
  }
}

// A cell's value in the type of its column; of a time, or only its day.
template <typename T>
inline T key_value(const Column& column, const KeyField& key, std::int64_t row) {
  const T& value = column.as<T>()[row];
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (key.day) return day_of(value);
  }
  return value;
}

// Values of different kinds lie in memory of different sizes.
void require_one_key(std::span<const GroupedRows> parts) {
  const auto kinds_of = [](const GroupedRows& part) {
    std::vector<Kind> kinds;
    for (const KeyField& key : part.key) {
      kinds.push_back(part.rows.table->schema().field(key.field).kind);
    }
    return kinds;
  };
  for (const GroupedRows& part : parts) {
    if (kinds_of(part) != kinds_of(parts.front())) {
      throw std::invalid_argument("the keys of grouped rows must have fields of the same kinds");
    }
  }
}

// Numbers hashes as they first appear, in an open-addressing table.
class Numbering {
 public:
  explicit Numbering(std::int64_t rows)
      : slots_(std::bit_ceil(static_cast<std::size_t>(rows) * 2 + 1), -1) {
    hashes_.reserve(static_cast<std::size_t>(rows));
  }

  std::int32_t number(std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = (hash ^ hash >> 32) & mask;; slot = (slot + 1) & mask) {
      std::int32_t& number = slots_[slot];
      if (number < 0) {
        number = static_cast<std::int32_t>(hashes_.size());
        hashes_.push_back(hash);
      }
      if (hashes_[static_cast<std::size_t>(number)] == hash) return number;
    }
  }
  std::int64_t count() const { return std::ssize(hashes_); }

 private:
  std::vector<std::int32_t> slots_;
  std::vector<std::uint64_t> hashes_;  // by number
};

// Whether the rows of each group are of one group of `within`.
bool agree_within(std::span<const GroupedRows> parts, const Groups& groups) {
  constexpr std::int64_t none = INT64_MIN;
  std::vector<std::int64_t> of_group(static_cast<std::size_t>(groups.count), none);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t row = 0; row < parts[i].within.size(); ++row) {
      std::int64_t& first = of_group[static_cast<std::size_t>(groups.parts[i].group[row])];
      if (first == none) first = parts[i].within[row];
      if (first != parts[i].within[row]) return false;
    }
  }
  return true;
}

// Whether the rows of each group have one value in a field of the key.
template <typename T>
bool agree_in(std::size_t field, std::span<const GroupedRows> parts, const Groups& groups) {
  struct Cell {
    const Table* table;
    bool known;
    T value;
  };
  std::vector<Cell> of_group(static_cast<std::size_t>(groups.count));  // of its first row
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const KeyField& key = parts[i].key[field];
    const Table& table = *parts[i].rows.table;
    const Column& column = table.column(key.field);
    std::size_t at = 0;
    for (const std::int32_t group : groups.parts[i].group) {
      const std::int64_t row = parts[i].row(at++);
      const bool known = column.valid(row);
      Cell& first = of_group[static_cast<std::size_t>(group)];
      if (first.table == nullptr) first = {&table, known, key_value<T>(column, key, row)};
      if (first.known != known ||
          (known && !same_value(*first.table, first.value, table, key_value<T>(column, key, row))))
        return false;
    }
  }
  return true;
}

// Whether the rows of each group have one key. Field by field, this takes a fraction of the time of
// comparing complete keys.
bool agree(std::span<const GroupedRows> parts, const Groups& groups) {
  if (!agree_within(parts, groups)) return false;
  for (std::size_t field = 0; !parts.empty() && field < parts.front().key.size(); ++field) {
    const Kind kind = parts.front().rows.table->schema().field(parts.front().key[field].field).kind;
    const bool same =
        with_stored(kind, [&]<typename T>(const T&) { return agree_in<T>(field, parts, groups); });
    if (!same) return false;
  }
  return true;
}

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

Groups detail::grouped(std::span<const GroupedRows> parts, const RowHashes& hashes) {
  require_one_key(parts);
  std::int64_t rows = 0;
  for (const GroupedRows& part : parts) rows += part.size();
  if (rows > INT32_MAX) throw std::length_error("more than 2^31 rows cannot be grouped");
  for (;;) {
    const std::uint64_t seed = hash_seed();
    Groups groups;
    Numbering numbering(rows);
    for (const GroupedRows& rows_of_part : parts) {
      GroupPart& part = groups.parts.emplace_back();
      part.rows = rows_of_part.rows;
      part.group.reserve(static_cast<std::size_t>(rows_of_part.size()));
      for (const std::uint64_t hash : hashes(rows_of_part, seed)) {
        part.group.push_back(numbering.number(hash));
      }
    }
    groups.count = numbering.count();
    if (groups.count < rows && !agree(parts, groups)) continue;
    for (GroupPart& part : groups.parts) find_ends(part, static_cast<std::size_t>(groups.count));
    return groups;
  }
}

std::vector<std::uint64_t> hashes_of(const GroupedRows& rows, std::uint64_t seed) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows.size()), seed);
  for (std::size_t i = 0; i < rows.within.size(); ++i) {
    hashes[i] = mixed(seed, static_cast<std::uint64_t>(rows.within[i]));
  }
  const Table& table = *rows.rows.table;
  std::uint64_t salt = 0;  // so that a value in another field gives another hash
  for (const KeyField& key : rows.key) {
    ++salt;
    const Column& column = table.column(key.field);
    with_stored(table.schema().field(key.field).kind, [&]<typename T>(const T&) {
      for (std::size_t at = 0; at < hashes.size(); ++at) {
        const std::int64_t row = rows.row(at);
        if (!column.valid(row)) continue;
        hashes[at] = mixed_value(hashes[at] + salt, table, key_value<T>(column, key, row));
      }
    });
  }
  return hashes;
}

Groups group_rows(std::span<const GroupedRows> parts) {
  return detail::grouped(parts, hashes_of);
}

std::vector<std::int32_t> coarser(std::span<const GroupPart> groups,
                                  std::span<const GroupedRows> parts) {
  require_one_key(parts);
  // A row of each group: groups are numbered part by part, as they first appear.
  std::vector<std::vector<std::int64_t>> rows(parts.size());
  for (std::size_t group = 0; !groups.empty() && group < groups.front().count.size(); ++group) {
    std::size_t at = 0;
    while (groups[at].first[group] < 0) ++at;
    rows[at].push_back(groups[at].first[group]);
  }
  std::vector<GroupedRows> chosen;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (!rows[at].empty()) chosen.push_back({parts[at].rows, parts[at].key, {}, rows[at]});
  }
  std::vector<std::int32_t> numbers;
  const Groups coarse = group_rows(chosen);
  for (const GroupPart& part : coarse.parts) {
    numbers.insert(numbers.end(), part.group.begin(), part.group.end());
  }
  return numbers;
}

Amounts amounts_of(const Slice& rows, int field, int decimals) {
  const Column& column = rows.table->column(field);
  const auto count = static_cast<std::size_t>(rows.size());
  Amounts made{.units = {}, .known = std::vector<bool>(count, true)};
  for (std::size_t i = 0; i < count && column.nulls > 0; ++i) {
    made.known[i] = column.valid(rows.start + static_cast<std::int64_t>(i));
  }
  if (rows.table->schema().field(field).kind == Kind::number) {
    made.units = in_units({column.as<double>() + rows.start, count}, decimals);
  } else {
    const auto* const values = column.as<std::int64_t>() + rows.start;
    made.units.assign(values, values + count);
  }
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
  const Column& column = table.column(field);
  with_stored(table.schema().field(field).kind, [&]<typename T>(const T&) {
    const T* const values = column.as<T>();
    std::int64_t row = part.rows.start;
    for (const std::int32_t number : part.group) {
      const auto group = static_cast<std::size_t>(number);
      if (!column.valid(row)) {
        result[group] |= static_cast<std::uint8_t>(Likeness::some_missing);
      } else if (known[group] < 0) {
        known[group] = row;
        result[group] |= static_cast<std::uint8_t>(Likeness::same);
      } else if (!same_value(table, values[known[group]], table, values[row])) {
        result[group] |= static_cast<std::uint8_t>(Likeness::different);
      }
      ++row;
    }
  });
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
