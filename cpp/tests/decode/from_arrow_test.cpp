// Tables from structures of another library, which may be wrong in every place that can be checked.
#include "decode/from_arrow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "table/records.hpp"

using namespace tradingdata;

namespace {

int schemas_alive = 0;
int arrays_alive = 0;
int streams_alive = 0;

// A producer of one batch with the columns symbol (utf8), quantity (int64), series (views) and
// exchange (a dictionary of utf8), three rows each. What a test changes, it changes before `read`.
struct Producer {
  static constexpr int columns = 4;
  static constexpr int rows = 3;

  std::array<std::int32_t, rows + 1> ends{0, 4, 4, 7};
  std::string texts = "INFYTCS";
  std::array<std::int64_t, rows> quantities{5, 6, 7};
  std::uint8_t validity = 0b101;
  struct View {
    std::int32_t size;
    char prefix[4];
    std::int32_t buffer;
    std::int32_t offset;
  };
  std::array<View, rows> views{View{2, {'E', 'Q'}, 0, 0}, View{16, {'n', 'o', 't', ' '}, 0, 3},
                               View{0, {}, 0, 0}};
  std::string block = "...not inline at all.";
  std::array<std::int64_t, 1> block_sizes{21};
  std::array<std::int8_t, rows> codes{1, 0, 1};
  std::array<std::int32_t, 3> dictionary_ends{0, 3, 6};
  std::string dictionary_texts = "NSEBSE";

  std::array<const void*, 3> symbol_buffers{nullptr, ends.data(), texts.data()};
  std::array<const void*, 2> quantity_buffers{&validity, quantities.data()};
  std::array<const void*, 4> series_buffers{nullptr, views.data(), block.data(),
                                            block_sizes.data()};
  std::array<const void*, 2> code_buffers{nullptr, codes.data()};
  std::array<const void*, 3> exchange_buffers{nullptr, dictionary_ends.data(),
                                              dictionary_texts.data()};
  std::array<const void*, 1> batch_buffers{nullptr};

  std::array<ArrowSchema, columns> fields{};
  std::array<ArrowSchema*, columns> field_pointers{};
  ArrowSchema dictionary_field{};
  ArrowSchema schema{};
  std::array<ArrowArray, columns> arrays{};
  std::array<ArrowArray*, columns> array_pointers{};
  ArrowArray dictionary{};
  ArrowArray batch{};
  int batches = 1;
  int fails_at = -1;  // the batch that cannot be made
  ArrowArrayStream stream{};

  Producer() {
    constexpr std::array formats{"u", "l", "vu", "c"};
    constexpr std::array names{"symbol", "quantity", "series", "exchange"};
    for (std::size_t i = 0; i < columns; ++i) {
      fields[i].format = formats[i];
      fields[i].name = names[i];
      fields[i].release = [](ArrowSchema* field) { field->release = nullptr; };
      field_pointers[i] = &fields[i];
      arrays[i].length = rows;
      arrays[i].release = [](ArrowArray* array) { array->release = nullptr; };
      array_pointers[i] = &arrays[i];
    }
    dictionary_field.format = "u";
    dictionary_field.release = fields[0].release;
    fields[3].dictionary = &dictionary_field;
    schema.format = "+s";
    schema.n_children = columns;
    schema.children = field_pointers.data();

    const auto set = [](ArrowArray& array, auto& buffers) {
      array.n_buffers = static_cast<std::int64_t>(buffers.size());
      array.buffers = buffers.data();
    };
    set(arrays[0], symbol_buffers);
    set(arrays[1], quantity_buffers);
    arrays[1].null_count = 1;
    set(arrays[2], series_buffers);
    set(arrays[3], code_buffers);
    dictionary.length = 2;
    dictionary.release = arrays[0].release;
    set(dictionary, exchange_buffers);
    arrays[3].dictionary = &dictionary;
    batch.length = rows;
    set(batch, batch_buffers);
    batch.n_children = columns;
    batch.children = array_pointers.data();
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  static Producer& of(ArrowArrayStream* stream) {
    return *static_cast<Producer*>(stream->private_data);
  }

  std::function<ZoneOffsets(const std::string& zone)> offsets_of;

  ArrowTable read(const std::string& constants = "") {
    schemas_alive = arrays_alive = 0;
    streams_alive = 1;
    stream.private_data = this;
    stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
      *out = of(self).schema;
      out->release = [](ArrowSchema* made) {
        --schemas_alive;
        made->release = nullptr;
      };
      ++schemas_alive;
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
      Producer& producer = of(self);
      const bool fails = producer.fails_at-- == 0;  // and leaves a batch that is to be released
      *out = ArrowArray{};
      if (!fails && producer.batches-- <= 0) return 0;
      *out = producer.batch;
      out->release = [](ArrowArray* made) {
        --arrays_alive;
        made->release = nullptr;
      };
      ++arrays_alive;
      return fails ? 5 : 0;
    };
    stream.get_last_error = [](ArrowArrayStream*) { return "the disk is gone"; };
    stream.release = [](ArrowArrayStream* self) {
      --streams_alive;
      self->release = nullptr;
    };
    return table_from_arrow(trade_schema, stream,
                            {.constants = constants, .offsets_of = offsets_of});
  }
};

using Change = std::function<void(Producer&)>;

void check_all_released() {
  CHECK(schemas_alive == 0);
  CHECK(arrays_alive == 0);
  CHECK(streams_alive == 0);
}

constexpr int symbol = trade_schema["symbol"];
constexpr int quantity = trade_schema["quantity"];
constexpr int series = trade_schema["series"];
constexpr int exchange = trade_schema["exchange"];

}  // namespace

TEST_CASE("a batch is copied and everything is released once") {
  for (const int batches : {0, 1, 3}) {
    Producer producer;
    producer.batches = batches;
    const TablePtr table = producer.read().table.build();
    check_all_released();
    producer.texts.assign(7, '?');
    REQUIRE(table->rows() == 3 * batches);
    for (std::int64_t row = 0; row < table->rows(); row += 3) {
      CHECK(table->text(symbol, row) == "INFY");
      CHECK(table->text(symbol, row + 1).empty());
      CHECK(table->valid(quantity, row));
      CHECK_FALSE(table->valid(quantity, row + 1));
      CHECK(table->column(quantity).as<std::int64_t>()[row + 2] == 7);
      CHECK(table->text(series, row) == "EQ");
      CHECK(table->text(series, row + 1) == "not inline at al");
      CHECK(table->text(exchange, row) == "BSE");
      CHECK(table->text(exchange, row + 1) == "NSE");
    }
  }
}

TEST_CASE("offsets of a batch and of its arrays add up") {
  Producer producer;
  producer.batch.offset = 1;
  producer.batch.length = 1;
  for (ArrowArray& array : producer.arrays) {
    array.offset = 1;
    array.length = 2;
  }
  const TablePtr table = producer.read().table.build();
  REQUIRE(table->rows() == 1);
  CHECK(table->text(symbol, 0) == "TCS");
  CHECK(table->column(quantity).as<std::int64_t>()[0] == 7);
  CHECK(table->text(exchange, 0) == "BSE");
}

TEST_CASE("malformed structures are errors, and are released all the same") {
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  const std::vector<Change> changes{
      [](Producer& p) { p.schema.format = nullptr; },
      [](Producer& p) { p.schema.format = "l"; },
      [](Producer& p) { p.schema.n_children = -1; },
      [](Producer& p) { p.schema.children = nullptr; },
      [](Producer& p) { p.field_pointers[1] = nullptr; },
      [](Producer& p) { p.fields[0].format = nullptr; },
      [](Producer& p) { p.fields[0].format = ""; },
      [](Producer& p) { p.fields[0].format = "+l"; },
      [](Producer& p) { p.fields[0].format = "ts"; },
      [](Producer& p) { p.fields[0].format = "tsx:"; },
      [](Producer& p) { p.fields[3].format = "g"; },
      [](Producer& p) { p.dictionary_field.format = "l"; },  // which has two buffers
      [](Producer& p) { p.fields[1].name = "symbol"; },
      [](Producer& p) { p.batch.length = -1; },
      [](Producer& p) { p.batch.length = 4; },
      [](Producer& p) { p.batch.length = greatest; },
      [](Producer& p) { p.batch.offset = 1; },
      [](Producer& p) { p.batch.offset = greatest; },
      [](Producer& p) { p.batch.null_count = 1; },
      [](Producer& p) {  // The nulls are not counted
        p.batch.null_count = -1;
        p.validity = 0b101;
        p.batch_buffers[0] = &p.validity;
      },
      [](Producer& p) { p.batch.n_children = 3; },
      [](Producer& p) { p.batch.children = nullptr; },
      [](Producer& p) { p.array_pointers[2] = nullptr; },
      [](Producer& p) { p.arrays[0].release = nullptr; },
      [](Producer& p) { p.arrays[0].length = 2; },
      [](Producer& p) { p.arrays[0].length = -1; },
      [](Producer& p) { p.arrays[0].offset = -1; },
      [](Producer& p) { p.arrays[0].offset = greatest; },
      [](Producer& p) { p.arrays[0].n_buffers = 2; },
      [](Producer& p) { p.arrays[0].buffers = nullptr; },
      [](Producer& p) { p.symbol_buffers[1] = nullptr; },
      [](Producer& p) { p.symbol_buffers[2] = nullptr; },
      [](Producer& p) { p.ends[0] = -1; },
      [](Producer& p) { p.ends[2] = 2; },
      [](Producer& p) { p.texts[1] = '\xFF'; },
      [](Producer& p) { p.texts[3] = '\xE2'; },
      [](Producer& p) {
        p.texts[1] = '\xFF';
        p.fields[0].name = "traded_price";
      },
      [](Producer& p) {
        p.texts[1] = '\xFF';
        p.fields[0].name = "pan_no";  // which is masked
      },
      [](Producer& p) { p.arrays[1].null_count = 4; },
      [](Producer& p) { p.arrays[1].null_count = -2; },
      [](Producer& p) { p.quantity_buffers[0] = nullptr; },
      [](Producer& p) { p.quantity_buffers[1] = nullptr; },
      [](Producer& p) { p.views[1].size = -1; },
      [](Producer& p) { p.views[1].size = 22; },
      [](Producer& p) { p.views[1].buffer = 1; },
      [](Producer& p) { p.views[1].buffer = -1; },
      [](Producer& p) { p.views[1].offset = -1; },
      [](Producer& p) { p.views[1].offset = 6; },
      [](Producer& p) { p.block_sizes[0] = -1; },
      [](Producer& p) { p.series_buffers[2] = nullptr; },
      [](Producer& p) { p.series_buffers[3] = nullptr; },
      [](Producer& p) { p.codes[1] = 2; },
      [](Producer& p) { p.codes[1] = -1; },
      [](Producer& p) { p.arrays[3].dictionary = nullptr; },
      [](Producer& p) { p.dictionary.length = 1; },
      [](Producer& p) { p.dictionary.release = nullptr; },
      [](Producer& p) { p.dictionary_ends[1] = 7; },
      [](Producer& p) { p.fails_at = 0; },
      [](Producer& p) { p.fails_at = 1; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    Producer producer;
    changes[i](producer);
    CHECK_THROWS_AS(producer.read(), std::invalid_argument);
    check_all_released();
  }
}

TEST_CASE("what a null hides is not looked at") {
  Producer producer;
  producer.validity = 0b101;
  producer.arrays[2].null_count = -1;
  producer.series_buffers[0] = &producer.validity;
  producer.views[1] = {-5, {}, 9, -9};
  producer.arrays[3].null_count = 1;
  producer.code_buffers[0] = &producer.validity;
  producer.codes[1] = 100;
  const TablePtr table = producer.read().table.build();
  CHECK_FALSE(table->valid(series, 1));
  CHECK_FALSE(table->valid(exchange, 1));
  CHECK(table->text(exchange, 2) == "BSE");
}

TEST_CASE("of a dictionary, texts that are null or that no row has are not read") {
  Producer with_null;
  const std::uint8_t only_second = 0b10;
  with_null.dictionary.null_count = 1;
  with_null.exchange_buffers[0] = &only_second;
  const TablePtr sparse = with_null.read().table.build();
  CHECK(sparse->text(exchange, 0) == "BSE");
  CHECK_FALSE(sparse->valid(exchange, 1));
  Producer unused;
  unused.codes = {1, 1, 1};
  unused.dictionary_texts.replace(0, 3, 3, '\xFF');
  CHECK(unused.read().table.build()->text(exchange, 2) == "BSE");
}

TEST_CASE("an array without rows needs no buffers, wherever it begins") {
  Producer producer;
  producer.batch.length = 0;
  for (ArrowArray& array : producer.arrays) {
    array.offset = 1;
    array.length = 0;
    array.null_count = 0;
  }
  producer.symbol_buffers = {nullptr, nullptr, nullptr};
  producer.quantity_buffers[1] = nullptr;
  CHECK(producer.read().table.build()->rows() == 0);
}

TEST_CASE("what is to be noted of a constant is noted of every row") {
  Producer producer;
  TableBuilder made = producer.read(R"({"traded_price": "7.5"})").table;
  const auto noted = std::ranges::find(made.issues(), "traded_price", &Issue::field);
  REQUIRE(noted != made.issues().end());
  CHECK(noted->problem == Problem::number_as_text);
  CHECK(noted->count == Producer::rows);
}

TEST_CASE("a failure of the producer is reported in its words") {
  Producer producer;
  producer.batches = 2;
  producer.fails_at = 1;
  CHECK_THROWS_WITH_AS(producer.read(), doctest::Contains("the disk is gone"),
                       std::invalid_argument);
}

TEST_CASE("times of a zone are read once, or again in UTC where its clock repeats one") {
  constexpr std::int64_t hour = 3'600 * micros_per_second;
  constexpr int time = trade_schema["exch_trade_time"];
  for (const bool repeats : {false, true}) {
    Producer producer;
    producer.fields[1].format = "tsu:Asia/Kolkata";
    producer.fields[1].name = "exch_trade_time";
    const ZoneOffset of_instants = [&](std::int64_t micros) -> std::int64_t {
      if (repeats && micros == 7) throw SecondOfTwo();
      return hour;
    };
    const ZoneOffset of_clock = [](std::int64_t) { return hour; };
    int asked = 0;
    producer.offsets_of = [&](const std::string& zone) -> ZoneOffsets {
      CHECK(zone == "Asia/Kolkata");
      ++asked;
      return {of_instants, of_clock};
    };
    const ArrowTable made = producer.read(
        R"({"order_date_time": "1970-01-02 05:00:00", "last_updated_time": "1970-01-02 05:00:00Z"})");
    check_all_released();
    CHECK(asked == 1);
    CHECK(made.time_zone == (repeats ? "UTC" : "Asia/Kolkata"));
    const Table& table = made.table.table();
    const std::int64_t moved = repeats ? 0 : hour;
    CHECK(table.column(time).as<std::int64_t>()[0] == 5 + moved);
    CHECK_FALSE(table.valid(time, 1));
    CHECK(table.column(time).as<std::int64_t>()[2] == 7 + moved);
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto at = [&](int field) { return table.column(field).as<std::int64_t>()[row]; };
      CHECK(at(trade_schema["order_date_time"]) == 29 * hour - (repeats ? hour : 0));
      CHECK(at(trade_schema["last_updated_time"]) == 29 * hour + moved);
    }
  }
}
