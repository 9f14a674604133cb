#include "table/duplicate_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace tradingdata::detail {

namespace {

using Row = std::int64_t;

class KeyHash {
 public:
  KeyHash(const Table& table, std::span<const int> key, std::uint64_t seed)
      : table_(table), key_(key), seed_(seed) {}

  std::uint32_t operator()(Row row) const {
    std::uint64_t sum = seed_;
    for (const int field : key_) {
      const TextView& view = table_.column(field).as<TextView>()[row];
      if (view.is_inline()) {
        const char* const bytes = reinterpret_cast<const char*>(&view);
        sum = mixed(mixed(sum, bytes), bytes + 8);
      } else {
        const std::string_view text = table_.text(view);
        const char* const last = text.data() + text.size() - 8;  // may overlap the one before
        for (const char* at = text.data(); at < last; at += 8) sum = mixed(sum, at);
        sum = mixed(sum, last);
      }
    }
    return static_cast<std::uint32_t>(sum >> 32);
  }

 private:
  static std::uint64_t mixed(std::uint64_t sum, const char* eight_bytes) {
    std::uint64_t word;
    std::memcpy(&word, eight_bytes, sizeof word);
    return std::rotl(sum ^ word, 29) * 0x9E3779B97F4A7C15;
  }

  const Table& table_;
  std::span<const int> key_;
  std::uint64_t seed_;
};

// Which hashes came: a bit for each, that a few others share.
class HashBits {
 public:
  explicit HashBits(Row rows) : words_(std::bit_ceil(static_cast<std::size_t>(rows) / 2 + 1)) {}

  bool has(std::uint32_t hash) const { return (words_[place(hash)] >> hash % 64 & 1) != 0; }
  void add(std::uint32_t hash) { words_[place(hash)] |= std::uint64_t{1} << hash % 64; }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  // Differs from run to run, so that no body can be made to collide.
  std::uint64_t seed() const { return reinterpret_cast<std::uintptr_t>(words_.data()); }

 private:
  std::size_t place(std::uint32_t hash) const { return hash / 64 & (words_.size() - 1); }

  std::vector<std::uint64_t> words_;
};

bool same_view(const TextView& a, const TextView& b) {
  std::uint64_t halves[2][2];
  std::memcpy(halves[0], &a, sizeof a);
  std::memcpy(halves[1], &b, sizeof b);
  return halves[0][0] == halves[1][0] && halves[0][1] == halves[1][1];
}

bool same_key(const Table& table, std::span<const int> key, Row a, Row b) {
  return std::all_of(key.begin(), key.end(),
                     [&](int field) { return same_text(table, field, a, b); });
}

// Counts the repeats among rows that are in order, of which only some have a key in common.
Repeats repeats_among(const Table& table, std::span<const int> key, std::span<const Row> rows) {
  Repeats repeats;
  std::vector<Row> originals;
  for (const Row row : rows) {
    const auto same = [&](Row other) { return same_key(table, key, other, row); };
    if (std::none_of(originals.begin(), originals.end(), same)) {
      originals.push_back(row);
    } else if (repeats.count++ == 0) {
      repeats.first = row;
    }
  }
  return repeats;
}

}  // namespace

bool same_text(const Table& table, int field, Row a, Row b) {
  const auto* const views = table.column(field).as<TextView>();
  if (same_view(views[a], views[b])) return true;
  return !views[a].is_inline() && table.text(views[a]) == table.text(views[b]);
}

Repeats repeats_of(const Table& table, std::span<const int> key) {
  const Row rows = table.rows();
  HashBits met(rows);
  const KeyHash hash(table, key, met.seed());
  std::vector<std::uint32_t> hashes(static_cast<std::size_t>(rows));
  const auto hash_of = [&](Row row) -> auto& { return hashes[static_cast<std::size_t>(row)]; };

  // One in a hundred rows at most finds its bit set, unless there are repeats.
  std::vector<Row> doubtful;
  for (Row row = 0; row < rows; ++row) {
    if (!table.valid(key[0], row)) continue;
    hash_of(row) = hash(row);
    if (met.has(hash_of(row))) [[unlikely]]
      doubtful.push_back(row);
    met.add(hash_of(row));
  }
  if (doubtful.empty()) return {};

  // These and the ones that they may repeat are looked at one by one.
  met.clear();
  for (const Row row : doubtful) met.add(hash_of(row));
  std::vector<Row> alike;
  for (Row row = 0; row < rows; ++row) {
    if (met.has(hash_of(row)) && table.valid(key[0], row)) alike.push_back(row);
  }
  std::stable_sort(alike.begin(), alike.end(),
                   [&](Row a, Row b) { return hash_of(a) < hash_of(b); });
  Repeats all;
  for (std::size_t begin = 0, end = 0; begin < alike.size(); begin = end) {
    while (end < alike.size() && hash_of(alike[end]) == hash_of(alike[begin])) ++end;
    const Repeats found = repeats_among(table, key, std::span(alike).subspan(begin, end - begin));
    if (found.count == 0) continue;
    all.first = all.count == 0 ? found.first : std::min(all.first, found.first);
    all.count += found.count;
  }
  return all;
}

}  // namespace tradingdata::detail
