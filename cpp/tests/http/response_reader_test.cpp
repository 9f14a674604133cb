// Responses as libcurl delivers them, and their compressed bodies.
#include "http/response_reader.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "http/inflate.hpp"
#include "http/transfer_failure.hpp"
#include "support/gzip.hpp"

using namespace tradingdata;
using bodies::gzipped;
using detail::Receiver;

namespace {

struct Reading {
  Receiver receiver;
  bool going = true;
  std::optional<Failure> failure;

  explicit Reading(std::initializer_list<const char*> headers, std::string_view body = {},
                   std::int64_t max_body = 1 << 20, std::size_t piece = 100000) {
    receiver.start(max_body);
    for (const char* header : headers)
      going = going && receiver.header(std::string(header) + "\r\n");
    going = going && receiver.header("\r\n");
    for (std::size_t at = 0; going && at < body.size(); at += piece) {
      going = receiver.body(body.substr(at, piece));
    }
    failure = receiver.finish();
  }

  std::string_view text() { return receiver.response().body.view(); }
  std::string why() const { return failure ? failure->message : ""; }
};

std::string random_text(std::size_t size) {
  std::string text;
  unsigned state = 12345;
  while (text.size() < size)
    text += static_cast<char>('a' + ((state = state * 1664525 + 1013904223) >> 24) % 26);
  return text;
}

}  // namespace

TEST_CASE("F8: blanks before the status code do not hide it, and a status line without one fails") {
  for (const char* line :
       {"HTTP/1.1 200 OK", "HTTP/1.1  200 OK", "HTTP/1.1 \t 200", "HTTP/2 200"}) {
    CAPTURE(line);
    Reading reading({line, "Content-Length: 2"}, "ok");
    CHECK(reading.receiver.response().status == 200);
    CHECK_FALSE(reading.failure);
    CHECK(reading.text() == "ok");
  }
  for (const char* line : {"HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 OK", "HTTP/1.1 -200 OK"}) {
    CAPTURE(line);
    CHECK(Reading({line}).why().find("status line") != std::string::npos);
  }
}

TEST_CASE("a plain response arrives completely, with the headers that matter") {
  Reading reading({"HTTP/1.1 200 OK", "Content-Length: 4", "retry-AFTER:  5 ", "Date: then"},
                  "good");
  CHECK_FALSE(reading.failure);
  CHECK(reading.text() == "good");
  CHECK(reading.receiver.response().status == 200);
  CHECK(reading.receiver.response().retry_after == "5");
  CHECK(reading.receiver.response().date == "then");
  CHECK_FALSE(reading.receiver.close_delimited());
  CHECK(reading.receiver.response().body.capacity() == 4);
}

TEST_CASE("F27 a body that only the connection ends is marked") {
  CHECK(Reading({"HTTP/1.1 200 OK"}, "x").receiver.close_delimited());
  CHECK_FALSE(
      Reading({"HTTP/1.1 200 OK", "Transfer-Encoding: chunked"}, "x").receiver.close_delimited());
}

TEST_CASE("F24 two Content-Lengths must agree") {
  CHECK(Reading({"HTTP/1.1 200 OK", "Content-Length: 4", "Content-Length: 5"}, "good")
            .why()
            .find("two different") != std::string::npos);
  CHECK_FALSE(
      Reading({"HTTP/1.1 200 OK", "Content-Length: 4", "Content-Length: 4"}, "good").failure);
  CHECK(Reading({"HTTP/1.1 200 OK", "Content-Length: 4, 5"}, "good").failure);
  CHECK(Reading({"HTTP/1.1 200 OK", "Content-Length: -4"}, "good").failure);
}

TEST_CASE("F29 interim responses leave no trace") {
  Reading reading(
      {"HTTP/1.1 100 Continue", "Content-Length: 99", "", "HTTP/1.1 200 OK", "Content-Length: 4"},
      "good");
  CHECK_FALSE(reading.failure);
  CHECK(reading.receiver.response().status == 200);
}

TEST_CASE("trailers cannot change what was said") {
  Reading reading({"HTTP/1.1 200 OK", "Transfer-Encoding: chunked"}, "good");
  CHECK(reading.receiver.header("HTTP/1.1 500 Oops\r\n"));
  CHECK(reading.receiver.header("Content-Length: 1\r\n"));
  CHECK(reading.receiver.response().status == 200);
  CHECK_FALSE(reading.receiver.finish());
}

TEST_CASE("F33 a flood of headers ends at 256 KiB") {
  Receiver receiver;
  receiver.start(100);
  receiver.header("HTTP/1.1 200 OK\r\n");
  const std::string line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
  int taken = 0;
  while (receiver.header(line)) REQUIRE(++taken < 1000);
  CHECK(taken < 260);
  CHECK(receiver.failure()->retry == Retry::never);
}

TEST_CASE("F34 F35 F94 a body beyond the cap stops, with or without a length") {
  const std::string body(2000, 'x');
  for (const char* framing : {"Content-Length: 2000", "Transfer-Encoding: chunked"}) {
    Reading reading({"HTTP/1.1 200 OK", framing}, body, 1999, 100);
    CHECK_FALSE(reading.going);
    CHECK(reading.why().find("larger than max_body (1999 bytes") != std::string::npos);
    CHECK(reading.failure->retry == Retry::never);
  }
  CHECK_FALSE(Reading({"HTTP/1.1 200 OK", "Content-Length: 2000"}, body, 2000, 100).failure);
  CHECK(Reading({"HTTP/1.1 200 OK", "Content-Length: 2147483648"}, "", INT64_MAX).failure);
}

TEST_CASE("F36 a gzip bomb stops at the cap") {
  const std::string bomb = gzipped(std::string(50'000'000, '0'));
  CHECK(bomb.size() < 100'000);
  Reading reading({"HTTP/1.1 200 OK", "Content-Encoding: gzip"}, bomb);
  CHECK(reading.why().find("larger than max_body") != std::string::npos);
  CHECK(reading.text().size() <= 1 << 20);
}

TEST_CASE("gzip bodies unpack, in pieces of any size and in several members") {
  const std::string text = random_text(300'000);
  for (const std::size_t piece : {1UL, 7UL, 1000UL, 1'000'000UL}) {
    Reading reading({"HTTP/1.1 200 OK", "Content-Encoding: x-gzip"}, gzipped(text), 1 << 20, piece);
    CHECK_FALSE(reading.failure);
    CHECK((reading.text() == text));
  }
  Reading members({"HTTP/1.1 200 OK", "Content-Encoding: gzip"}, gzipped("one, ") + gzipped("two"));
  CHECK(members.text() == "one, two");
  CHECK_FALSE(members.failure);
  Reading empty({"HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Length: 0"});
  CHECK_FALSE(empty.failure);
}

TEST_CASE("F41 F42 gzip that does not reach its checksum is an incomplete body") {
  const std::string whole = gzipped(random_text(100'000));
  for (const std::size_t missing : {1UL, 4UL, 8UL, 9UL, 1000UL}) {
    CAPTURE(missing);
    Reading reading({"HTTP/1.1 200 OK", "Content-Encoding: gzip"},
                    whole.substr(0, whole.size() - missing));
    CHECK(reading.why().find("incomplete body") == 0);
    CHECK(reading.failure->retry == Retry::always);
  }
}

TEST_CASE("F40 damaged gzip is retried, F39 what is no gzip is not") {
  std::string damaged = gzipped(random_text(100'000));
  damaged[damaged.size() - 6] ^= 1;  // in the checksum
  CHECK(Reading({"HTTP/1.1 200 OK", "Content-Encoding: gzip"}, damaged).failure->retry ==
        Retry::always);
  Reading plain({"HTTP/1.1 200 OK", "Content-Encoding: gzip"}, "{\"data\": []}");
  CHECK(plain.why().find("declared as gzip") != std::string::npos);
  CHECK(plain.failure->retry == Retry::never);
}

TEST_CASE("F37 F38 F43 other and stacked encodings are errors") {
  for (const char* coding : {"br", "deflate", "gzip, gzip", "gzip,br", "zstd"}) {
    CAPTURE(coding);
    const std::string header = std::string("Content-Encoding: ") + coding;
    CHECK(Reading({"HTTP/1.1 200 OK", header.c_str()}, "xx").failure);
  }
  CHECK(Reading({"HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Encoding: gzip"}).failure);
  CHECK_FALSE(Reading({"HTTP/1.1 200 OK", "Content-Encoding: identity"}, "x").failure);
  CHECK(Reading({"HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked"}).failure);
}

TEST_CASE("an error keeps its status whatever its body is, and its body stays small") {
  Reading odd({"HTTP/1.1 503 Busy", "Content-Encoding: br"}, "xx");
  CHECK_FALSE(odd.failure);
  CHECK(odd.receiver.refused());
  Reading endless({"HTTP/1.1 500 Oops", "Transfer-Encoding: chunked"}, std::string(500'000, 'x'));
  CHECK_FALSE(endless.failure);
  CHECK_FALSE(endless.going);
  CHECK(endless.text().size() == 64 * 1024);
}

namespace {

detail::TransferEnd transfer_end(int code, const char* detail) {
  detail::TransferEnd end;
  end.code = code;
  end.host = "api.example.com";
  end.detail = detail;
  return end;
}

}  // namespace

TEST_CASE("F9 F10 F11 F12 a refused certificate is explained") {
  const auto message = [](long verified, const char* detail) {
    detail::TransferEnd end = transfer_end(60, detail);  // CURLE_PEER_FAILED_VERIFICATION
    end.verify_result = verified;
    const Failure failure = failure_of(end);
    CHECK(failure.kind == ErrorKind::tls);
    CHECK(failure.retry == Retry::never);
    return failure.message + ": " + failure.help;
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(message(10, ""), std::string("has expired: ") + advice::clock));
  CHECK(contains(message(9, ""), std::string("not yet valid: ") + advice::clock));
  CHECK(contains(message(0, "SSL: no alternative certificate subject name matches target 'x'"),
                 "another host"));
  CHECK(contains(message(18, ""), std::string("not trusted here: ") + advice::ca_file));
  CHECK(contains(message(0, "unable to get local issuer certificate"), advice::ca_file));
  CHECK(contains(message(99, "odd"), "was refused (odd)"));
}

TEST_CASE("F1 F2 a failed connection names its host and its cause once") {
  const auto connect = [](const char* detail) {
    return failure_of(transfer_end(7, detail)).message;  // CURLE_COULDNT_CONNECT
  };
  CHECK(connect("Failed to connect to api.example.com port 443 after 3 ms: Couldn't connect to "
                "server") == "cannot connect to api.example.com port 443");
  CHECK(connect("Failed to connect to api.example.com port 443: Connection refused") ==
        "cannot connect to api.example.com port 443: Connection refused");
  CHECK(connect("") == "cannot connect to api.example.com");
  const auto lookup = [](const char* detail) {
    return failure_of(transfer_end(6, detail)).message;  // CURLE_COULDNT_RESOLVE_HOST
  };
  CHECK(lookup("Could not resolve host: api.example.com") ==
        "cannot find the host api.example.com");
  CHECK(lookup("Resolving timed out after 300 ms") ==
        "cannot find the host api.example.com: Resolving timed out after 300 ms");
}

TEST_CASE("F133 a proxy that did not connect is named in place of the service") {
  for (const int code : {7, 28, 35, 52, 56, 60}) {
    detail::TransferEnd end = transfer_end(code, "");
    end.proxy = "proxy.corp:3128";
    end.phase = detail::Phase::connect;
    end.at_proxy = true;
    const std::string message = failure_of(end).message;
    CAPTURE(message);
    CHECK(message.find("the proxy proxy.corp:3128") != std::string::npos);
    CHECK(message.find("api.example.com") == std::string::npos);
  }
}

TEST_CASE("F134 an alert about the client's certificate is not tried again") {
  for (const char* alert :
       {"SSL routines::tlsv13 alert certificate required",
        "SSL routines::sslv3 alert bad certificate", "SSL routines::tlsv1 alert unknown ca"}) {
    const Failure failure = failure_of(transfer_end(56, alert));  // CURLE_RECV_ERROR
    CHECK(failure.kind == ErrorKind::tls);
    CHECK(failure.retry == Retry::never);
  }
  CHECK(failure_of(transfer_end(56, "SSL routines::bad record mac")).retry == Retry::always);
}

// Inflating in pieces: limits, damage, members and trailing bytes.

using detail::Inflater;
using detail::InflateResult;

namespace {

constexpr std::int64_t no_limit = 1 << 30;

std::string compressible_text(std::size_t size) {
  std::string text;
  unsigned state = 7;
  while (text.size() < size) {
    text += "\"quantity\":";
    text += std::to_string((state = state * 1664525 + 1013904223) >> 20);
  }
  text.resize(size);
  return text;
}

struct Unpacked {
  InflateResult result = InflateResult::good;
  bool ended = false;
  std::string text;
};

Unpacked unpack(std::string_view packed, std::size_t first, std::size_t piece,
                std::int64_t limit = no_limit) {
  Inflater inflater;
  Buffer out;
  Unpacked unpacked;
  std::size_t at = 0;
  while (at < packed.size() && unpacked.result == InflateResult::good) {
    const std::size_t size = at == 0 && first > 0 ? first : piece;
    unpacked.result = inflater.feed(packed.substr(at, size), out, limit);
    at += size;
  }
  unpacked.ended = inflater.ended();
  unpacked.text = out.view();
  CHECK(std::string_view(out.data() + out.size(), 64) == std::string(64, '\0'));
  return unpacked;
}

}  // namespace

TEST_CASE("gzip unpacks to the same bytes wherever its chunks end") {
  const std::string text = compressible_text(3000);
  for (const int level : {0, 1, 9}) {
    for (const bool long_header : {false, true}) {
      const std::string packed = gzipped(text, level, long_header) + gzipped("two", level);
      for (std::size_t first = 1; first < packed.size(); ++first) {
        CAPTURE(level);
        CAPTURE(long_header);
        CAPTURE(first);
        const Unpacked whole = unpack(packed, first, packed.size());
        CAPTURE(static_cast<int>(whole.result));
        CAPTURE(whole.text.size());
        REQUIRE((whole.result == InflateResult::good && whole.ended));
        REQUIRE((whole.text == text + "two"));
      }
      const Unpacked bytes = unpack(packed, 0, 1);
      CHECK((bytes.result == InflateResult::good && bytes.ended && bytes.text == text + "two"));
    }
  }
}

TEST_CASE("a large body grows its buffer on the way and stays complete") {
  const std::string text = compressible_text(3'000'000);
  for (const std::size_t piece : {100UL, 16'384UL, 10'000'000UL}) {
    const Unpacked unpacked = unpack(gzipped(text, 6), 0, piece);
    CHECK((unpacked.result == InflateResult::good && unpacked.ended));
    CHECK((unpacked.text == text));
  }
}

TEST_CASE("F41 F42 no prefix of a gzip body passes for its end") {
  const std::string packed = gzipped(compressible_text(2000), 6, true);
  for (std::size_t size = 1; size < packed.size(); ++size) {
    const Unpacked cut = unpack(packed.substr(0, size), 0, packed.size());
    REQUIRE((cut.result == InflateResult::good && !cut.ended));
  }
}

TEST_CASE("F40 no changed byte of the data or of its checksum changes the text unseen") {
  const std::string text = compressible_text(500);
  const std::string packed = gzipped(text, 6);
  constexpr std::size_t fixed_header = 10;
  for (std::size_t at = fixed_header; at < packed.size(); ++at) {
    for (const int bit : {1, 16, 128}) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      const Unpacked unpacked = unpack(damaged, 0, damaged.size());
      // Bits that fill the last byte of the data mean nothing.
      const bool sound = unpacked.result == InflateResult::good && unpacked.ended;
      REQUIRE((!sound || unpacked.text == text));
    }
  }
}

TEST_CASE("F43 bytes behind the last member are damage, not data") {
  for (const char* trailing : {"x", "trailing bytes", "\x1F\x8Bno member"}) {
    for (const std::size_t piece : {1UL, 1000UL}) {
      const Unpacked unpacked = unpack(gzipped("one", 6) + trailing, 0, piece);
      CHECK_FALSE((unpacked.result == InflateResult::good && unpacked.ended));
    }
  }
}

TEST_CASE("F36 the limit holds to the byte") {
  const std::string text = compressible_text(200'000);
  const std::string packed = gzipped(text, 9);
  const auto size = static_cast<std::int64_t>(text.size());
  CHECK(unpack(packed, 0, 999, size).result == InflateResult::good);
  for (const std::int64_t limit : {size - 1, std::int64_t{100'000}, std::int64_t{0}}) {
    const Unpacked unpacked = unpack(packed, 0, 999, limit);
    CHECK(unpacked.result == InflateResult::too_large);
    CHECK((unpacked.text == text.substr(0, static_cast<std::size_t>(limit))));
  }
}
