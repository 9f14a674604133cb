// Checks the arrays of another library once, so that reading a value needs no check.
#include "decode/arrow_arrays.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/text.hpp"

namespace tradingdata::detail {

namespace {

std::optional<Wire> plain_wire(std::string_view format) {
  constexpr std::pair<std::string_view, Wire> known[] = {
      {"n", Wire::null},     {"b", Wire::boolean},    {"c", Wire::int8},
      {"C", Wire::uint8},    {"s", Wire::int16},      {"S", Wire::uint16},
      {"i", Wire::int32},    {"I", Wire::uint32},     {"l", Wire::int64},
      {"L", Wire::uint64},   {"f", Wire::float32},    {"g", Wire::float64},
      {"u", Wire::text},     {"U", Wire::large_text}, {"vu", Wire::text_view},
      {"tdD", Wire::date32}, {"tdm", Wire::date64},
  };
  for (const auto& [text, wire] : known) {
    if (text == format) return wire;
  }
  return std::nullopt;
}

// "d:precision,scale" with 128 bits, or with others behind another comma.
std::optional<WireType> decimal_type(std::string_view format) {
  constexpr int bits_a_byte = 8;
  int numbers[] = {0, 0, 128};
  format.remove_prefix(2);
  for (int& number : numbers) {
    const auto [end, error] = std::from_chars(format.data(), format.data() + format.size(), number);
    if (error != std::errc()) return std::nullopt;
    format.remove_prefix(static_cast<std::size_t>(end - format.data()));
    if (format.empty()) break;
    if (format.front() != ',') return std::nullopt;
    format.remove_prefix(1);
  }
  const auto [precision, scale, bits] = numbers;
  const bool known = bits == 32 || bits == 64 || bits == 128 || bits == 256;
  if (!format.empty() || !known || scale < 0 || scale > 76) return std::nullopt;
  WireType type;
  type.wire = Wire::decimal;
  type.scale = scale;
  type.bytes = bits / bits_a_byte;
  return type;
}

std::optional<WireType> plain_type(std::string_view format) {
  constexpr std::pair<std::string_view, std::int64_t> times[] = {
      {"tss:", 1}, {"tsm:", 1'000}, {"tsu:", 1'000'000}, {"tsn:", 1'000'000'000}};
  if (format.starts_with("d:")) return decimal_type(format);
  WireType type;
  for (const auto& [start, per_second] : times) {
    if (!format.starts_with(start)) continue;
    type.wire = Wire::timestamp;
    type.per_second = per_second;
    type.zone = format.substr(start.size());
    return type;
  }
  const std::optional<Wire> wire = plain_wire(format);
  if (!wire) return std::nullopt;
  type.wire = *wire;
  if (type.wire == Wire::date64) type.per_second = 1'000;
  return type;
}

std::string_view text_or_empty(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::optional<WireType> known_type(const ArrowSchema& column) {
  const std::string_view format = text_or_empty(column.format);
  if (column.dictionary == nullptr) return plain_type(format);
  const std::optional<Wire> index = plain_wire(format);
  std::optional<WireType> type = plain_type(text_or_empty(column.dictionary->format));
  const bool codes = index && Wire::int8 <= *index && *index <= Wire::uint64;
  if (!codes || !type || column.dictionary->dictionary != nullptr) return {};
  if (type->wire == Wire::null) return type;  // whatever the codes are
  type->index = *index;
  type->is_dictionary = true;
  return type;
}

}  // namespace

void check_utf8(std::string_view column, std::string_view text) {
  if (is_ascii(text)) return;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    char last[4] = {};  // behind the text may be anything
    const auto left = static_cast<std::size_t>(end - at);
    if (left < sizeof last) std::memcpy(last, at, left);
    const int length = scan_utf8(left < sizeof last ? last : at).length;
    if (length == 0 || static_cast<std::size_t>(length) > left) {
      throw std::invalid_argument("the Arrow data is malformed: column " + std::string(column) +
                                  " has text that is not UTF-8");
    }
    at += length;
  }
}

bool all_set(const void* bits, std::int64_t first, std::int64_t count) {
  const auto* const bytes = static_cast<const std::uint8_t*>(bits);
  const std::int64_t end = first + count;
  for (std::int64_t at = first; at < end;) {
    const bool is_byte = at % 8 == 0 && at + 8 <= end;
    if (is_byte ? bytes[at / 8] != 0xFF : !is_set(bits, at)) return false;
    at += is_byte ? 8 : 1;
  }
  return true;
}

WireType wire_type(const ArrowSchema& column) {
  if (const std::optional<WireType> type = known_type(column)) return *type;
  const std::string values =
      column.dictionary == nullptr
          ? std::string()
          : " and a dictionary of \"" + std::string(text_or_empty(column.dictionary->format)) + '"';
  throw UnsupportedColumn("column " + std::string(text_or_empty(column.name)) +
                          " has the Arrow format \"" + std::string(text_or_empty(column.format)) +
                          '"' + values +
                          ", which is not text, a number, a time or a date: cast it before it is "
                          "passed, or drop it");
}

ArrayReader::ArrayReader(std::string_view column, const WireType& type, Wire wire,
                         const ArrowArray& array, std::int64_t first, std::int64_t length)
    : column_(column), type_(type), wire_(wire), first_(array.offset), length_(length) {
  first_ += first;
  if (wire == Wire::null) {
    all_null_ = true;
    return;
  }
  if (length_ == 0) {  // its buffers may be null
    first_ = 0;
    return;
  }
  values_ = array.buffers[1];
  validity_ = array.buffers[0];
  // A producer need not count, and the nulls that it counted may be in other rows.
  if (validity_ != nullptr && all_set(validity_, first_, length_)) validity_ = nullptr;
  if (wire == Wire::text) check_offsets<std::int32_t>(array);
  if (wire == Wire::large_text) check_offsets<std::int64_t>(array);
  if (wire == Wire::text_view) check_views(array);
}

ArrayReader ArrayReader::open(std::string_view column, const WireType& type,
                              const ArrowArray& array, std::int64_t first, std::int64_t length) {
  if (!type.is_dictionary) return ArrayReader(column, type, type.wire, array, first, length);
  ArrayReader codes(column, type, type.index, array, first, length);
  const ArrowArray& coded = *array.dictionary;
  codes.coded_.push_back(ArrayReader(column, type, type.wire, coded, 0, coded.length));
  codes.read_codes();
  return codes;
}

// A row whose value in the dictionary is null has none either.
void ArrayReader::read_codes() {
  const ArrayReader& coded = coded_.front();
  std::vector<std::int64_t> codes(static_cast<std::size_t>(length_), -1);
  with_values([&](const auto* of_rows) {
    for (std::int64_t row = 0; row < length_; ++row) {
      if (!valid(row)) continue;
      const auto code = static_cast<std::int64_t>(+of_rows[row]);
      if (code < 0 || code >= coded.length()) fail("has a code beyond its dictionary");
      if (coded.valid(code)) codes[static_cast<std::size_t>(row)] = code;
    }
  });
  codes_ = std::move(codes);
}

void ArrayReader::fail(const char* what) const {
  throw std::invalid_argument("the Arrow data is malformed: column " + std::string(column_) + " " +
                              what);
}

Decimal ArrayReader::decimal(std::int64_t row) const {
  constexpr std::uint64_t billion = 1'000'000'000;  // nine digits at a time
  constexpr int limb_bits = 32;
  const auto bytes = static_cast<std::size_t>(type_.bytes);
  std::vector<std::uint32_t> limbs(bytes / sizeof(std::uint32_t));
  const auto place = static_cast<std::size_t>(first_ + row) * bytes;
  std::memcpy(limbs.data(), static_cast<const char*>(values_) + place, bytes);
  const bool negative = limbs.back() >> (limb_bits - 1) != 0;
  std::uint64_t carry = 1;
  for (std::uint32_t& limb : limbs) {
    if (!negative) break;
    carry += ~limb;
    limb = static_cast<std::uint32_t>(carry);
    carry >>= limb_bits;
  }
  std::string digits;  // the last one first
  while (std::ranges::any_of(limbs, [](std::uint32_t limb) { return limb != 0; })) {
    std::uint64_t rest = 0;
    for (auto limb = limbs.rbegin(); limb != limbs.rend(); ++limb) {
      rest = rest << limb_bits | *limb;
      *limb = static_cast<std::uint32_t>(rest / billion);
      rest %= billion;
    }
    for (int i = 0; i < 9; ++i, rest /= 10) digits += static_cast<char>('0' + rest % 10);
  }
  const auto scale = static_cast<std::size_t>(type_.scale);
  digits.resize(std::max(digits.size(), scale + 1), '0');
  std::ranges::reverse(digits);
  digits.insert(digits.size() - scale, ".");
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty() || digits.front() == '.') digits.insert(0, "0");
  if (negative) digits.insert(0, "-");
  return {digits};
}

// The interface gives no size of the text itself, so that only the order of the offsets can be
// checked.
template <typename Offset>
void ArrayReader::check_offsets(const ArrowArray& array) {
  data_ = static_cast<const char*>(array.buffers[2]);
  const Offset* const ends = values<Offset>();
  using Bits = std::make_unsigned_t<Offset>;
  Bits signs = static_cast<Bits>(ends[0]);  // of each offset and of each difference
  for (std::int64_t row = 0; row < length_; ++row) {
    const auto next = static_cast<Bits>(ends[row + 1]);
    signs |= next | (next - static_cast<Bits>(ends[row]));
  }
  if (static_cast<Offset>(signs) < 0) fail("has offsets that decrease or are negative");
  if (data_ == nullptr) data_ = "";  // all texts are empty
  text_end_ = data_ + ends[length_];
  ascii_ =
      tradingdata::is_ascii({data_ + ends[0], static_cast<std::size_t>(ends[length_] - ends[0])});
}

void ArrayReader::check_views(const ArrowArray& array) {
  blocks_ = array.buffers + 2;
  const std::int64_t blocks = array.n_buffers - 3;
  const auto* const sizes = static_cast<const std::int64_t*>(array.buffers[array.n_buffers - 1]);
  const TextView* const views = values<TextView>();
  for (std::int64_t row = 0; row < length_; ++row) {
    const TextView& view = views[row];
    if (!valid(row)) continue;
    if (view.size < 0) fail("has a text of negative size");
    if (view.is_inline()) continue;
    const std::int64_t block = view.place.buffer;
    if (block < 0 || block >= blocks || view.place.offset < 0 ||
        view.place.offset > sizes[block] - view.size) {
      fail("has a text outside its buffers");
    }
  }
  text_end_ = reinterpret_cast<const char*>(views + length_);
}

}  // namespace tradingdata::detail
