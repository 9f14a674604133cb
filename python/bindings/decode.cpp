// The decoder on bytes that the caller has (from_json, load, and the tests), and the core's rules
// for personal data, of which Python has no copy.
#include <pybind11/stl.h>

#include <limits>
#include <string>
#include <string_view>

#include "bindings.hpp"
#include "decode/decode.hpp"
#include "privacy/personal.hpp"
#include "privacy/shown.hpp"
#include "rows.hpp"
#include "slice.hpp"

namespace tradingdata::python {

namespace {

template <Decoder::Form form>
py::object decode_bytes(const py::object& record, const py::object& data, bool strict,
                        bool keep_personal_data, const std::string& account, bool written) {
  const Schema& schema = *row_type_given(record).schema;
  const py::object view =
      owned(or_park([&] { return PyMemoryView_GetContiguous(data.ptr(), PyBUF_READ, 'C'); }));
  const Py_buffer& sent = *PyMemoryView_GET_BUFFER(view.ptr());
  const std::string_view bytes(static_cast<const char*>(sent.buf),
                               static_cast<std::size_t>(sent.len));
  const DecodeOptions options{.strict = strict,
                              .keep_personal_data = keep_personal_data,
                              .account = account,
                              .written = written};
  // The table gets a copy of its own, where it may mask.
  return whole_slice(released([&] { return decode_copy(schema, form, bytes, options); }));
}

// The text of a field's value as a display shows it, also where a book keeps personal data.
std::string displayed(std::string_view name, std::string_view text) {
  if (is_personal_name(name)) return masked(text);
  return redacted_head(text, std::numeric_limits<std::int64_t>::max(), nullptr);
}

}  // namespace

void bind_decode(py::module_& module) {
  const auto decode = [&](const char* name, const auto& function) {
    module.def(name, function, py::arg("record"), py::arg("data"), py::arg("strict") = false,
               py::arg("keep_personal_data") = false, py::arg("account") = "",
               py::arg("written") = false);
  };
  decode("decode_book", &decode_bytes<Decoder::Form::book>);
  decode("decode_list", &decode_bytes<Decoder::Form::list>);
  module.def("is_personal", &is_personal_name, py::arg("name"));
  module.def("without_account_numbers", &without_account_numbers, py::arg("text"));
  module.def("displayed", &displayed, py::arg("name"), py::arg("text"));
}

}  // namespace tradingdata::python
