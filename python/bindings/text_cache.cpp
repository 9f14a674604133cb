// A small hash table from text views to Python strings. Columns such as the exchange repeat a few
// texts, so most cells reuse an object; a column of distinct texts gives up the cache.
#include "text_cache.hpp"

#include <bit>
#include <cstring>
#include <new>

namespace tradingdata::python {

namespace {

constexpr int most_bits = 9;  // 512 entries, 16 kB a column

std::uint64_t word_at(const void* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Whether all bytes are ASCII; text of eight or more is read in words, the last one overlapping.
bool is_ascii(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  std::uint64_t all = 0;
  if (text.size() < sizeof all) {
    for (const char c : text) all |= static_cast<unsigned char>(c);
    return (all & 0x80) == 0;
  }
  const char* const last = text.data() + text.size() - sizeof all;
  for (const char* at = text.data(); at < last; at += sizeof all) all |= word_at(at);
  return ((all | word_at(last)) & high_bits) == 0;
}

// A view contains short text completely. Of long text it has size and head; the tail is looked up.
std::uint64_t hash_of(const Table& table, const TextView& view) {
  std::uint64_t second = word_at(reinterpret_cast<const char*>(&view) + 8);
  if (!view.is_inline()) {
    const std::string_view text = table.text(view);
    second = word_at(text.data() + text.size() - sizeof second);
  }
  return (word_at(&view) ^ std::rotl(second, 29)) * 0x9E3779B97F4A7C15;
}

bool same_text(const Table& table, const TextView& a, const TextView& b) {
  if (word_at(&a) != word_at(&b)) return false;  // the size, and four bytes
  if (a.is_inline()) return std::memcmp(a.inlined + 4, b.inlined + 4, 8) == 0;
  return table.text(a) == table.text(b);
}

}  // namespace

PyObject* make_text(std::string_view text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  if (size > 1 && is_ascii(text)) {
    PyObject* const made = PyUnicode_New(size, 127);
    if (made != nullptr) std::memcpy(PyUnicode_DATA(made), text.data(), text.size());
    return made;
  }
  return PyUnicode_DecodeUTF8(text.data(), size, "strict");
}

bool TextCache::begin(std::int64_t rows) {
  int bits = 1;
  while (bits < most_bits && std::int64_t{1} << bits < 2 * rows) ++bits;
  entries_.reset(new (std::nothrow) Entry[std::size_t{1} << bits]);
  shift_ = 64 - bits;
  return entries_ != nullptr;
}

void TextCache::give_up() {
  if (entries_ == nullptr) return;
  for (std::size_t i = 0; i < std::size_t{1} << (64 - shift_); ++i) Py_XDECREF(entries_[i].text);
  entries_.reset();
  useless_ = true;
}

PyObject* TextCache::get(const Table& table, const TextView& view) {
  if (useless_) return make_text(table.text(view));
  if (entries_ == nullptr && !begin(table.rows())) return PyErr_NoMemory();
  Entry& entry = entries_[hash_of(table, view) >> shift_];
  if (entry.text == nullptr || !same_text(table, entry.view, view)) [[unlikely]] {
    return missed(table, view, entry);
  }
  ++hits_;
  return Py_NewRef(entry.text);
}

PyObject* TextCache::missed(const Table& table, const TextView& view, Entry& entry) {
  constexpr std::int64_t fair_trial = 512;
  PyObject* const made = make_text(table.text(view));
  if (made == nullptr) return nullptr;
  ++misses_;
  if (misses_ > fair_trial && hits_ < misses_) {
    give_up();
  } else {
    entry.view = view;
    Py_XSETREF(entry.text, Py_NewRef(made));
  }
  return made;
}

}  // namespace tradingdata::python
