// Prints a line for each body of a folder and for each of many mutations of it: a hash of all that
// decoding it gave, so that builds for different processors can be compared.
//   decode_outcomes cpp/fuzz/corpus 500
// Ends with 1 where a body in pieces decodes to something else than at once.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/incremental.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

// The standard fixes its sequence, unlike that of the distributions.
using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

// Some of what the decoder treats specially, around the limits of its blocks of 16 bytes.
std::string piece(Random& random) {
  constexpr std::string_view pieces[] = {
      "\"", "\\", "\\u0026", "\\ud800", "\xE2\x82\xB9", "\xFF", "\x1F",  "\n    ",
      "{",  "}]", ",",       ":",       "null",         "-0.0", "1e400", "9223372036854775808"};
  if (random() % 4 == 0) {
    const std::size_t length = below(random, 40);  // compilers evaluate arguments in either order
    return std::string(length, static_cast<char>(random() & 0xFF));
  }
  return std::string(pieces[below(random, std::size(pieces))]);
}

std::string mutated(std::string body, Random& random) {
  for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    const std::size_t at = below(random, body.size());
    switch (random() % 5) {
      case 0: body.insert(at, piece(random)); break;
      case 1: body.erase(at, 1 + below(random, 20)); break;
      case 2: body.insert(at, body.substr(at, 1 + below(random, 60))); break;
      case 3: body.resize(at); break;
      default:
        if (!body.empty()) body[at] = static_cast<char>(random() & 0xFF);
    }
  }
  return body;
}

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  return hash;
}

// Prints the line of one body; returns whether pieces of it decode to the same.
bool report(const std::string& name, int number, std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  const bool list = first != body.npos && body[first] == '[';
  const Schema& schema = list ? stock_schema : number % 2 == 0 ? trade_schema : order_schema;
  const Decoder::Form form = list ? Decoder::Form::list : Decoder::Form::book;
  const DecodeOptions options{.strict = number % 5 == 4, .keep_personal_data = number % 3 == 2};
  const std::string outcome = incremental::all_at_once(schema, form, body, options);
  std::printf("%s %d %016llx\n", name.c_str(), number,
              static_cast<unsigned long long>(hash_of(outcome)));
  const auto cuts = incremental::every(body, 1 + static_cast<std::size_t>(number) % 37);
  return incremental::in_pieces(schema, form, body, options, cuts) == outcome;
}

}  // namespace

int main(int count, char** words) {
  int mutations = 0;
  if (count == 3) {
    const std::string_view digits(words[2]);
    std::from_chars(digits.data(), digits.data() + digits.size(), mutations);
  }
  if (mutations < 1) {
    std::fprintf(stderr, "Usage: decode_outcomes FOLDER MUTATIONS\n");
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(words[1])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  int differ = 0;
  Random random(17);
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string body(std::istreambuf_iterator<char>(stream), {});
    const std::string name = file.filename().string();
    for (int number = 0; number <= mutations; ++number) {
      if (report(name, number, number == 0 ? body : mutated(body, random))) continue;
      ++differ;
      std::fprintf(stderr, "%s %d: a body in pieces decodes otherwise\n", name.c_str(), number);
    }
  }
  return differ == 0 && !files.empty() ? 0 : 1;
}
