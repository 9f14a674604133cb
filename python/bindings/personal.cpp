// Masks personal data in Python's text by the core's rules, of which Python has no copy.
#include "table/personal.hpp"

#include <pybind11/stl.h>

#include <limits>
#include <string>
#include <string_view>

#include "bindings.hpp"
#include "decode/decode.hpp"
#include "decode/personal/redact.hpp"
#include "released_gil.hpp"

namespace tradingdata::python {

namespace {

// The text of a field's value as a display shows it, also where a book keeps personal data.
std::string displayed(std::string_view name, std::string_view text) {
  if (is_personal_name(name)) return masked(text);
  return redacted_head(text, std::numeric_limits<std::int64_t>::max(), nullptr);
}

py::bytes masked_bytes(const py::bytes& json) {
  std::string result;
  {
    const std::string_view sent(json);
    const ReleasedGil released;
    result = masked_json(sent);
  }
  return result;
}

}  // namespace

void bind_personal(py::module_& module) {
  module.def("is_personal", &is_personal_name, py::arg("name"));
  module.def("displayed", &displayed, py::arg("name"), py::arg("text"));
  module.def("masked_json", &masked_bytes, py::arg("json"));
}

}  // namespace tradingdata::python
