// The inner loop of decoding. Where the next key is the predicted one, a value goes from the body
// to its column without a lookup.
#include "decode/record_parser.hpp"

#include <algorithm>
#include <set>

#include "privacy/personal.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

std::size_t size_of(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

// Of one that has all of the fields: their names, and for each two quotes, a colon and a comma.
std::int64_t least_size_of_record(const Schema& schema) {
  std::size_t size = 0;
  for (int i = 0; i < schema.sent(); ++i) size += schema.field(i).name.size() + 4;
  return static_cast<std::int64_t>(size);
}

}  // namespace

RecordParser::RecordParser(const Document& body, TableBuilder& table, const DecodeOptions& options,
                           std::string_view where, int depth, std::int64_t longest)
    : body_(body),
      table_(table),
      depth_(depth + 2),
      mask_(body, !options.keep_personal_data, options.tokens.get()),
      issues_(body, table, options, where),
      writers_(body, table, issues_, mask_, depth_),
      order_(table.table().schema(), table, mask_, options.written),
      all_(fields_read(table.table().schema(), options.written)),
      longest_(longest),
      extras_(table.extras()) {}

const char* RecordParser::read_array(const char* at) {
  if (array_ < 0) {
    array_ = body_.offset_of(at);
    more_ = body_.pass_opening(at, ']');
    next_ = body_.offset_of(at);
  }
  at = body_.pass_space(body_.begin() + next_);  // what had arrived may have ended in one
  while (more_) {
    // An element is read when twice as much has arrived as the longest one took, so that hardly
    // any is cut short.
    if (!body_.complete() && body_.end() - at < 2 * longest_) return nullptr;
    element_ = at;
    try {
      at = read_element(at);
      more_ = body_.pass_separator(at, ']');
    } catch (const Error& error) {
      throw at_path(error, path_of_fault());
    }
    ++position_;
    next_ = body_.offset_of(at);
    longest_ = std::max<std::int64_t>(longest_, at - element_);
  }
  if (!body_.complete()) return nullptr;  // what follows is read once it can be read to its end
  table_.set_rows(rows_);
  writers_.settle_offsets();
  return at;
}

const char* RecordParser::read_element(const char* at) {
  if (*at != '{') [[unlikely]] {
    const char* const end = body_.pass_value(at, depth_ - 1);
    issues_.refuse(at, "an element is not a record", issues_.path_of(position_));
    return end;
  }
  if (rows_ == table_.table().capacity()) [[unlikely]]
    make_room();
  return read_record(at, rows_++);
}

const char* RecordParser::read_record(const char* begin, std::int64_t row) {
  const char* at = begin;
  FieldSet seen;
  std::int64_t expected = 0;    // keys that came in order
  std::int64_t unexpected = 0;  // and those that had to be looked up
  const Step* step = order_.begin();
  for (;;) {
    const Step* const first = step;
    const Reached reached = read_expected({at, step}, row);
    at = reached.at;
    step = reached.step;
    if (step != first) {
      const FieldSet run = order_.fields_of(first, step);
      if ((seen & run).any()) [[unlikely]]
        refuse_repeated();
      seen |= run;
      expected += step - first;
    }
    const bool more = at == begin ? body_.pass_opening(at, '}') : body_.pass_separator(at, '}');
    if (!more) break;
    at = read_pair(at, row, seen, step);
    ++unexpected;
  }
  if (seen != all_) [[unlikely]]
    note_missing(at, row, seen);
  if (order_.is_wider(expected + unexpected)) [[unlikely]] {
    order_.widen(expected + unexpected);
    if (unexpected > 0) order_.learn(body_, begin, depth_);
  }
  return at;
}

RecordParser::Reached RecordParser::read_expected(Reached from, std::int64_t row) {
  const char* at = from.at;
  const Step* step = from.step;
  const Step* const end = order_.end();
  for (; step != end && step->matches(at); ++step) {
    at += step->length;
    at = step->meaning.field >= 0 ? writers_.read(at, step->meaning.field, row)
                                  : read_extra(at, step->meaning.extra, row);
  }
  return {at, step};
}

const char* RecordParser::read_pair(const char* at, std::int64_t row, FieldSet& seen,
                                    const Step*& step) {
  const StringScan scan = body_.scan_text(at);
  const KeyMeaning meaning = order_.look_up(at + 1, scan);
  at = body_.pass_mark(scan.end + 1, ':');
  step = order_.behind(meaning, step);
  if (meaning.field < 0) return read_extra(at, meaning.extra, row);
  const auto field = static_cast<std::size_t>(meaning.field);
  if (seen[field]) [[unlikely]]
    refuse_repeated();
  seen.set(field);
  return writers_.read_out_of_line(at, meaning.field, row);
}

const char* RecordParser::read_extra(const char* at, std::int32_t name, std::int64_t row) {
  at = body_.pass_space(at);
  UnknownField& field = unknown_field(name);
  std::size_t& latest = field.latest;
  const char* const end = mask_.pass_undocumented(at, depth_, field.personal);
  if (latest != none && extras_[latest].row == row) {
    const Extra& lost = extras_[latest];
    issues_.note_repeated(name, row, body_.view().substr(size_of(lost.offset), size_of(lost.size)));
  } else {
    latest = extras_.size();
    extras_.emplace_back();
  }
  // Member by member: a complete object would be assembled elsewhere first, and reading it back
  // would stall.
  Extra& extra = extras_[latest];
  extra.row = row;
  extra.name = name;
  extra.buffer = 0;
  extra.offset = static_cast<std::int32_t>(body_.offset_of(at));
  extra.size = static_cast<std::int32_t>(end - at);
  return end;
}

RecordParser::UnknownField& RecordParser::unknown_field(std::int32_t name) {
  const std::size_t position = size_of(name);
  while (unknown_fields_.size() <= position) {
    const std::string& text = table_.table().extra_names()[unknown_fields_.size()];
    unknown_fields_.push_back({.personal = is_personal_name(text), .latest = none});
  }
  return unknown_fields_[position];
}

void RecordParser::note_missing(const char* record_end, std::int64_t row, const FieldSet& seen) {
  for (int field = 0; field < table_.table().schema().width(); ++field) {
    const auto place = static_cast<std::size_t>(field);
    if (all_[place] && !seen[place]) writers_.missing(field, row, record_end - 1);
  }
}

// Finds the field that occurs twice in the record that is being read.
void RecordParser::refuse_repeated() {
  if (issues_.refusal()) return;
  std::set<std::string> names;
  visit_pairs(body_, element_, depth_, [&](const Pair& pair) {
    const std::string name = pair.name();
    if (table_.table().schema().find_sent(name) < 0 || names.insert(name).second) return true;
    issues_.refuse(pair.key, "a field occurs twice in one record",
                   issues_.path_of(position_, name));
    return false;
  });
}

// Reserves rows for the rest of the body, assuming records like those before; but never for much
// more than such a body can hold, since the first ones may not be typical.
void RecordParser::make_room() {
  constexpr std::int64_t most_at_first = 256;
  constexpr std::int64_t most_bodies = 16;
  constexpr std::int64_t always_granted = 256 << 20;
  const std::int64_t size = std::max(body_.size(), body_.expected_size());
  const std::int64_t left = size - body_.offset_of(element_);
  const std::int64_t row_size = table_.bytes_for(1024) / 1024;
  std::int64_t more =
      std::min(left / least_size_of_record(table_.table().schema()) + 1, most_at_first);
  if (rows_ > 0) {
    const std::int64_t record =
        std::max<std::int64_t>((body_.offset_of(element_) - array_) / rows_, 1);
    const std::int64_t alike = left / record + left / record / 16 + 16;
    more = std::min(alike, std::max(size / row_size, rows_));
  }
  const std::int64_t most = (body_.size() * most_bodies + always_granted) / row_size;
  if (rows_ + more > most) {
    if (rows_ >= most) {
      body_.fail(element_, "there are too many records for what they hold");
    }
    more = most - rows_;
  }
  table_.set_rows(rows_);
  table_.reserve(rows_ + more);
  if (rows_ > 0) {  // growing step by step costs a sixth of the time of a body with unknown fields
    const std::size_t each = (extras_.size() + size_of(rows_) - 1) / size_of(rows_);
    extras_.reserve(std::min(each * size_of(rows_ + more), size_of(size)));
  }
  writers_.bind();
}

std::string RecordParser::path_of_fault() const {
  std::string name;
  if (*element_ == '{') {
    try {
      visit_pairs(body_, element_, depth_, [&](const Pair& pair) {
        name = pair.name();
        body_.pass_value(pair.value, depth_);
        name.clear();  // the fault is not in this value
        return true;
      });
    } catch (const Error&) {
      return issues_.path_of(position_, name);
    }
  }
  return issues_.path_of(position_);
}

}  // namespace tradingdata::detail
