// Hashes keys column by column, then finds each row's group in an open-addressing table.
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
std::uint64_t mixed(std::uint64_t hash, std::uint64_t bits) {
  const uint128 product = uint128{hash ^ bits} * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::int64_t word_size = sizeof(std::uint64_t);

// A longer text is read in words too, the last one overlapping.
std::uint64_t mixed(std::uint64_t hash, const Table& table, const TextView& view) {
  hash = mixed(hash, view.first_word());
  if (view.is_inline()) return mixed(hash, view.second_word());
  const std::string_view text = table.text(view);
  const char* const last = text.data() + text.size() - word_size;
  for (const char* at = text.data(); at < last; at += word_size) hash = mixed(hash, load_word(at));
  return mixed(hash, load_word(last));
}

// The bits of a value, equal for equal values; those of a time may be its day's.
template <typename Value>
std::uint64_t bits_of(Value value, const KeyField& key) {
  if constexpr (std::is_same_v<Value, double>) {
    return std::bit_cast<std::uint64_t>(value + 0.0);  // -0 equals 0
  } else {
    return static_cast<std::uint64_t>(key.day ? day_of(value) : value);
  }
}

// A value of a field of a key, in its table.
template <typename T>
struct KeyValue {
  const Table& table;
  const KeyField& key;
  const T& value;

  bool operator==(const KeyValue& other) const {
    if constexpr (std::is_same_v<T, TextView>) {
      return same_text(table, value, other.table, other.value);
    } else {
      return bits_of(value, key) == bits_of(other.value, other.key);
    }
  }
};

bool same_cell(const Table& a, const KeyField& key_a, std::int64_t row_a, const Table& b,
               const KeyField& key_b, std::int64_t row_b) {
  const Column &x = a.column(key_a.field), &y = b.column(key_b.field);
  const bool known = x.valid(row_a);
  if (known != y.valid(row_b)) return false;
  if (!known) return true;
  return with_stored(a.schema().field(key_a.field).kind, [&]<typename T>(const T&) {
    return KeyValue<T>{a, key_a, x.as<T>()[row_a]} == KeyValue<T>{b, key_b, y.as<T>()[row_b]};
  });
}

// Adds the values of some rows to their hashes; `row_at` gives the row of each, or -1 for none.
template <typename RowAt>
void add_hashes(std::vector<std::uint64_t>& hashes, const GroupedRows& part, const RowAt& row_at) {
  const Table& table = *part.rows.table;
  std::uint64_t salt = 0;  // so that a value in another field gives another hash
  for (const KeyField& key : part.key) {
    ++salt;
    const Column& column = table.column(key.field);
    with_stored(table.schema().field(key.field).kind, [&]<typename T>(const T&) {
      const T* const values = column.as<T>();
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        const std::int64_t row = row_at(i);
        if (row < 0 || !column.valid(row)) continue;
        if constexpr (std::is_same_v<T, TextView>) {
          hashes[i] = mixed(hashes[i] + salt, table, values[row]);
        } else {
          hashes[i] = mixed(hashes[i] + salt, bits_of(values[row], key));
        }
      }
    });
  }
}

void add_hashes(std::vector<std::uint64_t>& hashes, const GroupedRows& part) {
  add_hashes(hashes, part, [first = part.rows.start](std::size_t i) {
    return first + static_cast<std::int64_t>(i);
  });
}

// Where the first row of a group is.
struct Place {
  const GroupedRows* part;
  std::int64_t row;

  std::int32_t within() const {
    return part->within.empty() ? 0
                                : part->within[static_cast<std::size_t>(row - part->rows.start)];
  }
};

class GroupFinder {
 public:
  // With `by_hash`, rows of one hash are of one group, whatever their keys.
  explicit GroupFinder(std::int64_t rows, bool by_hash = false)
      : slots_(std::bit_ceil(static_cast<std::size_t>(rows) * 2 + 1), -1), by_hash_(by_hash) {
    places_.reserve(static_cast<std::size_t>(rows));
    hashes_.reserve(static_cast<std::size_t>(rows));
  }

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
      if (hashes_[at] == hash && (by_hash_ || same_key(places_[at], place))) return group;
    }
  }

  std::size_t count() const { return places_.size(); }
  const std::vector<Place>& places() const { return places_; }

 private:
  static bool same_key(const Place& a, const Place& b) {
    if (a.within() != b.within()) return false;
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
  bool by_hash_;
};

// Whether each row has the value of its group's first row in one field of the key.
template <typename T>
bool agree_in(std::size_t field, std::span<const GroupedRows> parts, const Groups& groups,
              const std::vector<Place>& places) {
  struct Head {
    const Table* table;
    const KeyField* key;
    T value;
    bool valid;
  };
  std::vector<Head> heads;  // side by side, where looking each up in its column would be slow
  heads.reserve(places.size());
  for (const Place& place : places) {
    const KeyField& key = place.part->key[field];
    const Table* const table = place.part->rows.table;
    heads.push_back({table, &key, table->column(key.field).template as<T>()[place.row],
                     table->valid(key.field, place.row)});
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const KeyField& key = parts[i].key[field];
    const Table& table = *parts[i].rows.table;
    const Column& column = table.column(key.field);
    std::int64_t row = parts[i].rows.start;
    for (const std::int32_t group : groups.parts[i].group) {
      const Head& head = heads[static_cast<std::size_t>(group)];
      const KeyValue<T> found{table, key, column.as<T>()[row]};
      if (column.valid(row++) != head.valid) return false;
      if (head.valid && found != KeyValue<T>{*head.table, *head.key, head.value}) return false;
    }
  }
  return true;
}

// Whether each row has the key of its group's first row. Field by field, this takes a fraction of
// the time of comparing complete keys.
bool agree(std::span<const GroupedRows> parts, const Groups& groups,
           const std::vector<Place>& places) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t row = 0; row < parts[i].within.size(); ++row) {
      const auto group = static_cast<std::size_t>(groups.parts[i].group[row]);
      if (parts[i].within[row] != places[group].within()) return false;
    }
  }
  for (std::size_t field = 0; !parts.empty() && field < parts.front().key.size(); ++field) {
    const Kind kind = parts.front().rows.table->schema().field(parts.front().key[field].field).kind;
    const bool same = with_stored(
        kind, [&]<typename T>(const T&) { return agree_in<T>(field, parts, groups, places); });
    if (!same) return false;
  }
  return true;
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

Groups numbered(std::span<const GroupedRows> parts,
                std::span<const std::vector<std::uint64_t>> hashes, GroupFinder& finder) {
  Groups groups;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    GroupPart& part = groups.parts.emplace_back();
    part.rows = parts[i].rows;
    part.group.reserve(hashes[i].size());
    std::int64_t row = part.rows.start;
    for (const std::uint64_t hash : hashes[i])
      part.group.push_back(finder.find(hash, {&parts[i], row++}));
  }
  groups.count = static_cast<std::int64_t>(finder.count());
  for (GroupPart& part : groups.parts) find_ends(part, finder.count());
  return groups;
}

}  // namespace

Groups detail::grouped(std::span<const GroupedRows> parts,
                       std::span<const std::vector<std::uint64_t>> hashes) {
  require_one_key(parts);
  std::int64_t total = 0;
  for (const GroupedRows& part : parts) total += part.rows.size();
  if (total > INT32_MAX) throw std::length_error("more than 2^31 rows cannot be grouped");
  GroupFinder by_hash(total, true);
  Groups groups = numbered(parts, hashes, by_hash);
  // Rows of different hashes have different keys; two of one hash almost never have.
  if (groups.count == total || agree(parts, groups, by_hash.places())) return groups;
  GroupFinder by_key(total);
  return numbered(parts, hashes, by_key);
}

Groups group_rows(std::span<const GroupedRows> parts) {
  const std::uint64_t seed = hash_seed();
  std::vector<std::vector<std::uint64_t>> hashes;
  for (const GroupedRows& part : parts) {
    auto& of_part = hashes.emplace_back(static_cast<std::size_t>(part.rows.size()), seed);
    for (std::size_t i = 0; i < part.within.size(); ++i) {
      of_part[i] = mixed(seed, static_cast<std::uint64_t>(part.within[i]));
    }
    add_hashes(of_part, part);
  }
  return detail::grouped(parts, hashes);
}

std::vector<std::uint64_t> hashes_of(const GroupedRows& rows) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows.rows.size()));
  add_hashes(hashes, rows);
  return hashes;
}

std::vector<std::int64_t> distinct_rows(const Slice& rows, const KeyField& key) {
  const Table& table = *rows.table;
  const Column& column = table.column(key.field);
  // Values come in runs, most of all where there are few: only the first of each run is looked up.
  std::vector<std::int64_t> heads;
  with_stored(table.schema().field(key.field).kind, [&]<typename T>(const T&) {
    const T* const values = column.as<T>();
    std::int64_t midnight = 0;  // of a run of times of one day
    const auto is_of_run = [&](std::int64_t row) {
      if constexpr (std::is_same_v<T, std::int64_t>) {
        if (key.day) return midnight <= values[row] && values[row] < midnight + micros_per_day;
      }
      return KeyValue<T>{table, key, values[row - 1]} == KeyValue<T>{table, key, values[row]};
    };
    for (std::int64_t row = rows.start; row < rows.stop; ++row) {
      const bool known = column.valid(row);
      if (row > rows.start && known == column.valid(row - 1) && (!known || is_of_run(row)))
        continue;
      heads.push_back(row);
      if constexpr (std::is_same_v<T, std::int64_t>) {
        if (key.day) midnight = day_of(values[row]) * micros_per_day;
      }
    }
  });
  const GroupedRows given{rows, {key}};
  std::vector<std::uint64_t> hashes(heads.size(), hash_seed());
  add_hashes(hashes, given, [&](std::size_t i) { return heads[i]; });
  GroupFinder finder(std::ssize(heads));
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::size_t before = finder.count();
    finder.find(hashes[i], {&given, heads[i]});
    if (finder.count() > before) found.push_back(heads[i] - rows.start);
  }
  return found;
}

std::vector<std::int32_t> coarser(std::span<const GroupPart> groups,
                                  std::span<const GroupedRows> parts) {
  require_one_key(parts);
  std::vector<Place> places;  // a row of each group, which has one in some part
  for (std::size_t group = 0; !parts.empty() && group < groups.front().count.size(); ++group) {
    std::size_t at = 0;
    while (groups[at].first[group] < 0) ++at;
    places.push_back({&parts[at], parts[at].rows.start + groups[at].first[group]});
  }
  std::vector<std::uint64_t> hashes(places.size(), hash_seed());
  for (const GroupedRows& part : parts) {
    add_hashes(hashes, part,
               [&](std::size_t i) { return places[i].part == &part ? places[i].row : -1; });
  }
  GroupFinder finder(std::ssize(places));
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < places.size(); ++i) {
    numbers.push_back(finder.find(hashes[i], places[i]));
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
  const KeyField key{field};
  with_stored(table.schema().field(field).kind, [&]<typename T>(const T&) {
    const T* const values = column.as<T>();
    const auto value = [&](std::int64_t row) { return KeyValue<T>{table, key, values[row]}; };
    std::int64_t row = part.rows.start;
    for (const std::int32_t number : part.group) {
      const auto group = static_cast<std::size_t>(number);
      if (!column.valid(row)) {
        result[group] |= static_cast<std::uint8_t>(Likeness::some_missing);
      } else if (known[group] < 0) {
        known[group] = row;
        result[group] |= static_cast<std::uint8_t>(Likeness::same);
      } else if (value(known[group]) != value(row)) {
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
