#include "record_walk.hpp"

#include <algorithm>

namespace tradingdata::detail {

namespace {

constexpr int record_depth = 3;  // the envelope, its array and the record enclose a value
constexpr std::size_t none = static_cast<std::size_t>(-1);

}  // namespace

RecordWalk::RecordWalk(Cursor& cursor, Table& table, const DecodeOptions& options,
                       std::string_view where)
    : cursor_(cursor),
      table_(table),
      cells_(cursor, table, options),
      keys_(table.schema(), table),
      where_(where) {}

void RecordWalk::read_array() {
  array_begin_ = cursor_.at;
  std::int64_t row = 0;
  try {
    cursor_.expect('[');
    cursor_.skip_space();
    if (*cursor_.at == ']') {
      ++cursor_.at;
      return;
    }
    do {
      if (*cursor_.at != '{') [[unlikely]] {
        if (odd_element_ == nullptr) {
          odd_element_ = cursor_.at;
          odd_row_ = row;
        }
        cursor_.skip_value(record_depth - 1);
        continue;
      }
      if (row == table_.capacity()) make_room(row);
      read_record(row);
      table_.set_rows(++row);
    } while (cursor_.next(']'));
  } catch (const Error& error) {
    throw at_path(error, path_of(row));
  }
}

std::string RecordWalk::path_of(std::int64_t row) const {
  std::string path = std::string(where_) + "[" + std::to_string(row) + "]";
  if (meaning_.field >= 0) {
    path += "." + std::string(table_.schema().fields[static_cast<std::size_t>(meaning_.field)].name);
  } else if (meaning_.extra >= 0) {
    path += "." + table_.extra_names[static_cast<std::size_t>(meaning_.extra)];
  }
  return path;
}

// Room for as many records as the rest of the body holds, if they are like those before.
void RecordWalk::make_room(std::int64_t row) {
  constexpr std::int64_t first_guess = 16;
  const std::int64_t read = cursor_.at - array_begin_;
  const std::int64_t left = cursor_.end() - cursor_.at;
  std::int64_t more = first_guess;
  if (row >= first_guess) {
    const std::int64_t record = std::max<std::int64_t>(read / row, 1);
    more = left / record + left / record / 32 + first_guess;
  }
  table_.reserve(row + more);
}

void RecordWalk::read_record(std::int64_t row) {
  ++cursor_.at;
  cursor_.skip_space();
  seen_.clear();
  keys_.begin_record();
  meaning_ = {};
  if (*cursor_.at == '}') {
    ++cursor_.at;
  } else {
    do {
      read_pair(row);
    } while (cursor_.next('}'));
  }
  const int width = table_.schema().width();
  if (seen_.count() == width) [[likely]] return;
  for (int field = 0; field < width; ++field) {
    if (!seen_.has(field)) cells_.missing(field, row);
  }
}

void RecordWalk::read_pair(std::int64_t row) {
  const char* const key_begin = cursor_.at;
  if (const ExpectedKey* key = keys_.expected();
      key != nullptr && key->matches(cursor_.at)) [[likely]] {
    cursor_.at += key->length;
    meaning_ = key->meaning;
    keys_.accept();
  } else {
    meaning_ = read_key();
    if (row == 0) {
      keys_.learn({key_begin, static_cast<std::size_t>(cursor_.at - key_begin)}, meaning_);
    }
  }
  if (*cursor_.at == ':') [[likely]] {
    ++cursor_.at;
  } else {
    cursor_.expect(':');
  }
  cursor_.skip_space();
  if (meaning_.field < 0) [[unlikely]] return read_extra(meaning_.extra, row);
  if (seen_.has(meaning_.field)) [[unlikely]] {
    cursor_.fail(key_begin, "a field stands twice in one record");
  }
  seen_.add(meaning_.field);
  cells_.read(meaning_.field, row);
}

// A key that was not expected: another order, another spelling, or another field.
KeyMeaning RecordWalk::read_key() {
  const char* const from = cursor_.at + 1;
  const bool escaped = cursor_.skip_string();
  const char* const to = cursor_.at - 1;
  if (!escaped) return keys_.look_up({from, static_cast<std::size_t>(to - from)});
  std::string name(static_cast<std::size_t>(to - from), '\0');
  bool damaged = false;
  name.resize(static_cast<std::size_t>(unescape(from, to, name.data(), damaged)));
  return keys_.look_up(name);
}

void RecordWalk::read_extra(std::int32_t name, std::int64_t row) {
  const char* const from = cursor_.at;
  cursor_.skip_value(record_depth);
  const Extra extra{.row = row,
                    .name = name,
                    .buffer = 0,
                    .offset = static_cast<std::int32_t>(cursor_.offset_of(from)),
                    .size = static_cast<std::int32_t>(cursor_.at - from)};
  const auto named = static_cast<std::size_t>(name);
  if (named >= latest_extra_.size()) latest_extra_.resize(named + 1, none);
  std::size_t& latest = latest_extra_[named];
  if (latest != none && table_.extras[latest].row == row) {
    Extra& earlier = table_.extras[latest];
    cells_.note(table_.extra_names[named], Problem::repeated_key, row, table_.extra_json(earlier));
    earlier = extra;
    return;
  }
  latest = table_.extras.size();
  table_.extras.push_back(extra);
}

}  // namespace tradingdata::detail
