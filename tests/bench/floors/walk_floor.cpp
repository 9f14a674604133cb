// The decoder alone, on warm memory: the limit for what Python can reach. Speaks the protocol of
// bench/worker.py.
//   walk_floor Trade|Order BODY
#include <malloc.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "decode/decode.hpp"
#include "rounds.hpp"
#include "table/records.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  // Freed memory stays with the process, so that no page is fresh after the first runs.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 2'000'000'000);

  using namespace tradingdata;
  const Schema& schema = std::string_view(argv[1]) == "Trade" ? trade_schema : order_schema;
  std::ifstream file(argv[2], std::ios::binary);
  const std::string body{std::istreambuf_iterator<char>(file), {}};

  const auto decode = [&](Buffer received) {
    return Decoder(schema, Decoder::Form::book, {}).finish(std::move(received));
  };
  const auto rows = decode(Buffer(body))->rows();
  bench::serve_rounds("{\"rows\":" + std::to_string(rows) + "}", [&](bench::Times& times) {
    Buffer copy(body);  // decoding masks in place
    std::shared_ptr<const Table> table;
    times.add([&] { table = decode(std::move(copy)); });
  });
}
