#include "columns.hpp"

#include <datetime.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace tradingdata::python {

namespace {

constexpr std::size_t most_cached = 512;

bool is_ascii(std::string_view text) {
  std::uint64_t all = 0;
  while (text.size() >= sizeof all) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), sizeof word);
    all |= word;
    text.remove_prefix(sizeof word);
  }
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return (all & 0x8080808080808080) == 0;
}

std::size_t hash_of(const Table& table, const TextView& view) {
  std::uint64_t words[2];
  std::memcpy(words, &view, sizeof words);
  if (!view.is_inline()) {
    // The same text may lie at many places: hash its size, its head and its tail.
    const std::string_view text = table.text(view);
    std::memcpy(&words[1], text.data() + text.size() - sizeof words[1], sizeof words[1]);
  }
  const std::uint64_t hash = (words[0] ^ std::rotl(words[1], 29)) * 0x9E3779B97F4A7C15;
  return hash >> 40;
}

bool same_text(const Table& table, const TextView& a, const TextView& b) {
  if (a.is_inline()) return std::memcmp(&a, &b, sizeof a) == 0;
  return a.size == b.size && table.text(a) == table.text(b);
}

}  // namespace

PyObject* make_text(std::string_view text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  if (size > 1 && is_ascii(text)) {
    PyObject* made = PyUnicode_New(size, 127);
    if (made != nullptr) std::memcpy(PyUnicode_DATA(made), text.data(), text.size());
    return made;
  }
  return PyUnicode_DecodeUTF8(text.data(), size, "strict");
}

TextCache::TextCache(std::int64_t rows)
    : entries_(std::min(most_cached, std::bit_ceil(static_cast<std::size_t>(rows) * 2))) {}

TextCache::~TextCache() { give_up(); }

void TextCache::give_up() {
  for (const Entry& entry : entries_) Py_XDECREF(entry.text);
  entries_.clear();
  useless_ = true;
}

PyObject* TextCache::get(const Table& table, const TextView& view) {
#ifndef Py_GIL_DISABLED
  if (!useless_) {
    Entry& entry = entries_[hash_of(table, view) & (entries_.size() - 1)];
    if (entry.text != nullptr && same_text(table, entry.view, view)) {
      ++hits_;
      return Py_NewRef(entry.text);
    }
    constexpr std::int64_t fair_trial = 512;
    if (++misses_ > fair_trial && hits_ < misses_) {
      give_up();
    } else {
      PyObject* made = make_text(table.text(view));
      if (made == nullptr) return nullptr;
      Py_XSETREF(entry.text, Py_NewRef(made));
      entry.view = view;
      return made;
    }
  }
#endif
  return make_text(table.text(view));
}

void import_datetime() {
  PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr) throw py::error_already_set();
}

Columns::Columns(TablePtr table, py::object zone)
    : table_(std::move(table)),
      zone_(std::move(zone)),
      caches_(static_cast<std::size_t>(table_->schema().width())) {}

PyObject* Columns::cell(int field, std::int64_t row) {
  const Column& column = table_->column(field);
  if (!column.valid(row)) Py_RETURN_NONE;
  switch (table_->schema().fields[static_cast<std::size_t>(field)].kind) {
    case Kind::text: return text(field, row);
    case Kind::integer: return PyLong_FromLongLong(column.as<std::int64_t>()[row]);
    case Kind::number: return PyFloat_FromDouble(column.as<double>()[row]);
    case Kind::timestamp: return timestamp(column.as<std::int64_t>()[row]);
    case Kind::date: return date(column.as<std::int32_t>()[row]);
  }
  Py_UNREACHABLE();
}

PyObject* Columns::text(int field, std::int64_t row) {
  const TextView& view = table_->column(field).as<TextView>()[row];
#ifdef Py_GIL_DISABLED
  return make_text(table_->text(view));
#else
  auto& cache = caches_[static_cast<std::size_t>(field)];
  if (cache == nullptr) {
    try {
      cache = std::make_unique<TextCache>(table_->rows());
    } catch (const std::bad_alloc&) {
      return PyErr_NoMemory();
    }
  }
  return cache->get(*table_, view);
#endif
}

Civil Columns::civil_of(std::int32_t days) {
#ifdef Py_GIL_DISABLED
  return civil_from_days(days);
#else
  if (days != last_day_) {
    last_civil_ = civil_from_days(days);
    last_day_ = days;
  }
  return last_civil_;
#endif
}

PyObject* Columns::timestamp(std::int64_t micros) {
  std::int64_t day = micros / micros_per_day;
  std::int64_t rest = micros % micros_per_day;
  if (rest < 0) {
    --day;
    rest += micros_per_day;
  }
  const Civil civil = civil_of(static_cast<std::int32_t>(day));
  const auto seconds = static_cast<int>(rest / micros_per_second);
  return PyDateTimeAPI->DateTime_FromDateAndTime(
      civil.year, civil.month, civil.day, seconds / 3600, seconds / 60 % 60, seconds % 60,
      static_cast<int>(rest % micros_per_second), zone_.ptr(), PyDateTimeAPI->DateTimeType);
}

PyObject* Columns::date(std::int32_t days) {
  const Civil civil = civil_of(days);
  return PyDate_FromDate(civil.year, civil.month, civil.day);
}

}  // namespace tradingdata::python
