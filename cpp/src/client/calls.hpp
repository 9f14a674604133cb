// The declaration of each call to the service: how it is requested, and what its response contains.
// Clients, the sandbox, logs and documentation loop over these.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "decode/decode.hpp"
#include "http/http.hpp"
#include "table/records.hpp"

namespace tradingdata {

struct ServiceCall {
  std::string_view name;  // of the clients' method
  Method method;
  std::string_view path;
  std::span<const std::string_view> parameters = {};  // of the query, in the order they are sent
  std::string_view body = {};                         // JSON; empty: none
  bool takes_token = false;
  Decoder::Form form;
  const Schema* schema;  // of the records in the response
};

inline constexpr std::array<std::string_view, 3> search_parameters{"query", "page", "limit"};
inline constexpr std::string_view source_body = R"({"source":"N"})";

inline constexpr std::array service_calls{
    ServiceCall{.name = "trade_book",
                .method = Method::post,
                .path = "/api/v1/trade/book",
                .body = source_body,
                .takes_token = true,
                .form = Decoder::Form::book,
                .schema = &trade_schema},
    ServiceCall{.name = "order_book",
                .method = Method::post,
                .path = "/api/v1/order/book",
                .body = source_body,
                .takes_token = true,
                .form = Decoder::Form::book,
                .schema = &order_schema},
    ServiceCall{.name = "search",
                .method = Method::get,
                .path = "/api/v1/stocks",
                .parameters = search_parameters,
                .form = Decoder::Form::list,
                .schema = &stock_schema},
};

// The call whose response contains such records, or null.
constexpr const ServiceCall* call_of(const Schema& schema) {
  const auto* const found = std::ranges::find(service_calls, &schema, &ServiceCall::schema);
  return found != service_calls.end() ? &*found : nullptr;
}

}  // namespace tradingdata
