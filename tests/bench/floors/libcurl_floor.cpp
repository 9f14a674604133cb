// Calls and downloads with libcurl alone, or with libcurl and the core's decoder: the limit for
// what this library can reach. Speaks the protocol of bench/worker.py. One connection for calls in
// turn, or as many in one multi handle at once:
//   libcurl_floor URL CALLS AT_ONCE plain|decode
#include <curl/curl.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/decode.hpp"
#include "rounds.hpp"
#include "table/records.hpp"

namespace {

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

struct Request {
  CURL* handle = curl_easy_init();
  tradingdata::Buffer body;
  std::unique_ptr<tradingdata::Decoder> decoder;  // if the body is decoded
  bool decodes = false;
  std::size_t size = 0;
  int left = 0;

  Request(const std::string& url, curl_slist* headers, bool with_decoder) : decodes(with_decoder) {
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, R"({"source":"N"})");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "tradingdata/0.1.0");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 256L << 10);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, this);
  }

  static std::size_t receive(char* data, std::size_t, std::size_t count, void* into) {
    Request& self = *static_cast<Request*>(into);
    if (self.body.size() == 0) {
      curl_off_t length = 0;
      curl_easy_getinfo(self.handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
      if (length > 0) self.body.reserve(length);
    }
    self.body.append({data, count});
    if (self.decoder) self.decoder->advance(self.body);
    return count;
  }

  // A body that is not decoded keeps its memory from call to call.
  void begin() {
    using tradingdata::Decoder;
    body.clear();
    if (!decodes) return;
    decoder = std::make_unique<Decoder>(tradingdata::trade_schema, Decoder::Form::book,
                                        tradingdata::DecodeOptions{});
  }

  void end() {
    size = static_cast<std::size_t>(body.size());
    if (decoder) decoder->finish(std::exchange(body, tradingdata::Buffer()));
  }
};

void in_turn(Request& request, int calls) {
  for (int i = 0; i < calls; ++i) {
    request.begin();
    check(curl_easy_perform(request.handle) == CURLE_OK, "the call failed");
    request.end();
  }
}

void together(CURLM* multi, std::vector<Request*>& requests, int calls) {
  int active = 0;
  for (Request* request : requests) {
    request->left = calls;
    request->begin();
    curl_multi_add_handle(multi, request->handle);
    ++active;
  }
  while (active > 0) {
    int running = 0;
    curl_multi_perform(multi, &running);
    int queued = 0;
    bool any = false;
    while (const CURLMsg* message = curl_multi_info_read(multi, &queued)) {
      check(message->data.result == CURLE_OK, "the call failed");
      any = true;
      CURL* const handle = message->easy_handle;
      Request* request = nullptr;
      curl_easy_getinfo(handle, CURLINFO_PRIVATE, &request);
      request->end();
      curl_multi_remove_handle(multi, handle);
      if (--request->left == 0) {
        --active;
        continue;
      }
      request->begin();
      curl_multi_add_handle(multi, handle);
    }
    if (!any && active > 0) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string url = argv[1];
  const int calls = std::atoi(argv[2]);
  const int at_once = std::atoi(argv[3]);
  const bool decodes = std::string_view(argv[4]) == "decode";

  curl_global_init(CURL_GLOBAL_DEFAULT);
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Authorization: Bearer bench-token");
  headers = curl_slist_append(headers, "Accept-Encoding: gzip");
  std::vector<Request*> requests;
  for (int i = 0; i < at_once; ++i) requests.push_back(new Request(url, headers, decodes));
  CURLM* const multi = curl_multi_init();

  in_turn(*requests.front(), 1);
  const std::size_t size = requests.front()->size;
  bench::serve_rounds("{\"bytes\":" + std::to_string(size) + "}", [&](bench::Times& times) {
    times.add(
        [&] {
          if (at_once == 1) {
            in_turn(*requests.front(), calls);
          } else {
            together(multi, requests, calls);
          }
        },
        calls * at_once);
  });
}
