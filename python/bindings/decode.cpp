// The decoder on bytes that the caller has: from_json, load, and the tests.
#include "tradingdata/decode.hpp"

#include <string>

#include "bindings.hpp"
#include "rows.hpp"

namespace tradingdata::python {

namespace {

using Decode = TablePtr (*)(const Schema&, Buffer, const DecodeOptions&);

template <Decode decode>
py::object decode_bytes(const std::string& record, const py::buffer& data, bool strict,
                        bool keep_personal_data) {
  const Schema& schema = *row_type_named(record)->schema;
  const py::buffer_info view = data.request();
  const DecodeOptions options{.strict = strict, .keep_personal_data = keep_personal_data};
  TablePtr table;
  {
    // `view` holds the caller's buffer; the table gets a copy of its own, where it may mask.
    const py::gil_scoped_release released;
    const auto bytes = static_cast<std::size_t>(view.size * view.itemsize);
    table = decode(schema, Buffer({static_cast<const char*>(view.ptr), bytes}), options);
  }
  return py::cast(std::make_shared<Columns>(std::move(table)));
}

}  // namespace

void bind_decode(py::module_& module) {
  module.def("decode_book", &decode_bytes<decode_book>, py::arg("record"), py::arg("data"),
             py::arg("strict") = false, py::arg("keep_personal_data") = false);
  module.def("decode_list", &decode_bytes<decode_list>, py::arg("record"), py::arg("data"),
             py::arg("strict") = false, py::arg("keep_personal_data") = false);
}

}  // namespace tradingdata::python
