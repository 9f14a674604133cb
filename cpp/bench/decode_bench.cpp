// The decoder's time on bodies of each kind, size and layout. The best of several rounds is shown,
// in milliseconds of this thread's CPU time: others on the machine slow it down, nothing speeds it
// up. "walk" decodes a copy that was made before; "with copy" makes the copy too, as from_json
// must.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#ifdef TRADINGDATA_HAS_SIMDJSON
#include <simdjson.h>
#endif

#include "support/bodies.hpp"
#include "support/whole_body.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// The best time of `run`; what `prepare` does before each round is not counted.
double best_of(
    int rounds, const std::function<void()>& run, const std::function<void()>& prepare = [] {}) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rounds; ++i) {
    prepare();
    const double begin = cpu_milliseconds();
    run();
    best = std::min(best, cpu_milliseconds() - begin);
  }
  return best;
}

using Change = void (*)(bodies::Record&, std::size_t row);

struct Variant {
  std::string_view name;
  const bodies::Layout& layout;
  Change change;
};

void keep(bodies::Record&, std::size_t) {}
void reverse(bodies::Record& record, std::size_t) {
  std::reverse(record.begin(), record.end());
}
void shuffle(bodies::Record& record, std::size_t row) {
  bodies::Random random(row);
  std::shuffle(record.begin(), record.end(), random);
}
void add_unknown(bodies::Record& record, std::size_t) {
  record.insert(record.begin() + 5, {"margin_used", "1501.05"});
  record.insert(record.begin() + 20, {"remarks_by_desk", "\"none\""});
  record.emplace_back("flags", "[true,false]");
}
void leave_some_out(bodies::Record& record, std::size_t row) {
  record.erase(record.begin() + static_cast<std::ptrdiff_t>(3 + row % 3 * 5));
}

constexpr Variant variants[] = {
    {"compact", bodies::compact, keep},
    {"spaced", bodies::spaced, keep},
    {"indented", bodies::indented, keep},
    {"reversed", bodies::compact, reverse},
    {"shuffled", bodies::compact, shuffle},
    {"unknown keys", bodies::compact, add_unknown},
    {"fields left out", bodies::compact, leave_some_out},
};

std::string body_of(const Schema& schema, int count, const Variant& variant) {
  std::vector<bodies::Record> records = bodies::records(schema, count);
  for (std::size_t row = 0; row < records.size(); ++row) variant.change(records[row], row);
  return schema.record == "Stock" ? bodies::list(records, variant.layout)
                                  : bodies::book(records, variant.layout);
}

void print_yardsticks(const std::string& body, int rounds) {
  std::string copy(body.size(), '\0');
  const double copied =
      best_of(rounds, [&] { std::memcpy(copy.data(), body.data(), body.size()); });
  std::printf("    memcpy %.3f", copied);
#ifdef TRADINGDATA_HAS_SIMDJSON
  bool valid = true;
  const double utf8 =
      best_of(rounds, [&] { valid = valid && simdjson::validate_utf8(body.data(), body.size()); });
  const simdjson::padded_string padded(body);
  simdjson::dom::parser parser;
  const double dom = best_of(rounds, [&] {
    simdjson::dom::element document;
    valid = valid && parser.parse(padded).get(document) == simdjson::SUCCESS;
  });
  const double indexed = best_of(rounds, [&] {
    const auto* const text = reinterpret_cast<const std::uint8_t*>(padded.data());
    valid = valid && parser.implementation->stage1(
                         text, padded.size(), simdjson::stage1_mode::regular) == simdjson::SUCCESS;
  });
  std::printf("  simdjson UTF-8 %.3f  stage 1 %.3f  DOM %.3f%s", utf8, indexed, dom,
              valid ? "" : "  (NOT JSON)");
#endif
  std::printf("\n");
}

void measure(const Schema& schema, int count, const Variant& variant, const std::string& body) {
  const int rounds = std::max(5, static_cast<int>(400'000'000 / body.size()));
  const auto decoder = schema.record == "Stock" ? decode_list : decode_book;
  std::shared_ptr<const Table> table;
  Buffer bytes;
  const double walk = best_of(
      rounds, [&] { table = decoder(schema, std::move(bytes), {}); },
      [&] {
        table.reset();
        bytes = Buffer(body);
      });
  const double with_copy =
      best_of(rounds, [&] { table = decoder(schema, Buffer(body), {}); }, [&] { table.reset(); });
  const auto size = static_cast<double>(body.size());
  std::printf("  %-16s %8.2f MB  walk %9.3f ms %5.2f GB/s  with copy %9.3f ms %5.2f GB/s\n",
              std::string(variant.name).c_str(), size / 1e6, walk, size / walk / 1e6, with_copy,
              size / with_copy / 1e6);
  if (table->rows() != count) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  for (const int count : {100, 10'000, 200'000}) {
    for (const Schema* schema : record_schemas) {
      const std::string name = std::string(schema->record) + "s/" + std::to_string(count);
      if (name.find(wanted) == name.npos) continue;
      std::printf("%s\n", name.c_str());
      for (const Variant& variant : variants) {
        // The large bodies are about memory: one layout tells enough.
        if (count > 10'000 && &variant != variants) break;
        const std::string body = body_of(*schema, count, variant);
        if (&variant == variants) print_yardsticks(body, 20);
        measure(*schema, count, variant, body);
      }
    }
  }
}
