// Rows grouped by the values of any fields, also of two tables at once, and what calculations need
// of each group: sums, first and last rows, extremes, and whether a field is the same throughout.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/exact.hpp"
#include "table/table.hpp"

namespace tradingdata {

// A field of a key, or only the day of a timestamp.
struct KeyField {
  int field;
  bool day = false;
};

// Rows of a table, and the fields by which they are grouped; with `within`, only rows of one group
// there, by row, are of one group; with `only`, these rows count, and no others.
struct GroupedRows {
  Slice rows;
  std::vector<KeyField> key;
  std::span<const std::int32_t> within{};
  std::span<const std::int64_t> only{};

  std::int64_t size() const { return only.empty() ? rows.size() : std::ssize(only); }
  std::int64_t row(std::size_t at) const {
    return rows.start + (only.empty() ? static_cast<std::int64_t>(at) : only[at]);
  }
};

// The rows of one table, by group. Rows are numbered from the slice's first.
struct GroupPart {
  Slice rows;
  std::vector<std::int32_t> group;  // by row
  std::vector<std::int64_t> count;  // by group; a group may have rows in another part only
  std::vector<std::int64_t> first;  // -1: none
  std::vector<std::int64_t> last;

  std::int64_t size() const { return rows.size(); }
};

struct Groups {
  std::int64_t count = 0;
  std::vector<GroupPart> parts;
};

// Groups are numbered in the order in which they first appear, part by part. The keys of all parts
// must have fields of the same kinds; missing values are equal to each other.
Groups group_rows(std::span<const GroupedRows> parts);

// A hash of each row's key, the same in every process. An archive stores digests of these: it reads
// rows that it need not read if they change.
std::vector<std::uint64_t> hashes_of(const GroupedRows& rows, std::uint64_t seed = 0);

namespace detail {

// Groups by hashes: those of equal keys are equal, and those of others differ for most seeds.
using RowHashes = std::function<std::vector<std::uint64_t>(const GroupedRows&, std::uint64_t seed)>;
Groups grouped(std::span<const GroupedRows> parts, const RowHashes& hashes);

}  // namespace detail

// The number of each group among groups by a part of the key, whose fields are given for each part.
std::vector<std::int32_t> coarser(std::span<const GroupPart> groups,
                                  std::span<const GroupedRows> parts);

// Exact amounts of a column, as multiples of 10^-decimals; 0 where `known` is false.
struct Amounts {
  std::vector<int128> units;
  std::vector<bool> known;
};
Amounts amounts_of(const Slice& rows, int field, int decimals);

// The number of decimals that holds the known values of a column of numbers; 0 for integers.
int decimals_of(const Slice& rows, int field, int so_far);

// By group: the sum, and whether no value was missing.
Amounts sums(const GroupPart& part, const Amounts& amounts);

// By row: quantity * price. A price may be missing where the quantity is zero.
Amounts products(const Amounts& quantities, const Amounts& prices);

// What the values of a field have in common within a group.
enum class Likeness : std::uint8_t { none = 0, same = 1, some_missing = 2, different = 4 };
std::vector<std::uint8_t> likenesses(const GroupPart& part, int field);

// The rows with the least and with the greatest known value of a timestamp; -1: none.
std::vector<std::int64_t> extreme_rows(const GroupPart& part, int field, bool greatest);

}  // namespace tradingdata
