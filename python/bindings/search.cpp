// _core.Search and _core.SearchRun: a search over all its pages, on the caller's thread or on a
// worker's.
#include "client/search.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "released_gil.hpp"
#include "worker.hpp"

namespace tradingdata::python {

py::tuple as_python(SearchPage page) {
  return as_python(std::move(page.fetched)) +
         py::make_tuple(page.rows.source.page, std::move(page.rows.rows), page.rows.duplicates);
}

namespace {

py::dict pager_as_python(const Pager& pager) {
  py::dict result;
  result["pages"] = pager.stats().pages;
  result["items"] = pager.stats().items;
  result["duplicates"] = pager.stats().duplicates;
  result["requests"] = pager.stats().requests;
  result["ended"] = pager.ended() ? py::object(py::str(name_of(pager.end()))) : py::none();
  const PagerDoubt doubt = pager.doubt();
  result["doubtful"] = doubt != PagerDoubt::none;
  result["doubt"] = doubt == PagerDoubt::none ? py::none() : py::object(py::str(name_of(doubt)));
  result["page"] = pager.page();
  result["page_size"] = pager.page_size();
  return result;
}

template <typename Made>
std::shared_ptr<Made> make(std::shared_ptr<Client> client, const std::string& query,
                           std::optional<std::int64_t> page_size, std::int64_t start_page,
                           std::optional<std::int64_t> max_items, std::int64_t prefetch,
                           std::optional<double> timeout) {
  PagerOptions options;
  options.may_shrink = !page_size;  // a size that the user chose is sent, or refused
  options.page_size = page_size.value_or(options.page_size);
  options.start_page = start_page;
  options.max_items = max_items;
  options.prefetch = prefetch;
  return std::make_shared<Made>(std::move(client), query, options, timeout);
}

template <typename Made>
py::class_<Made, std::shared_ptr<Made>> bind(py::module_& module, const char* name) {
  return py::class_<Made, std::shared_ptr<Made>>(module, name, py::is_final())
      .def(py::init(&make<Made>), py::arg("client"), py::arg("query"), py::arg("page_size"),
           py::arg("start_page"), py::arg("max_items"), py::arg("prefetch"), py::arg("timeout"))
      .def("set_timeout", &Made::set_timeout, py::arg("timeout"))
      .def("state", [](const Made& self) { return pager_as_python(self.pager()); });
}

std::vector<CallId> submit(SearchRun& self, Port& port) {
  std::vector<CallId> ids;
  for (Call& call : self.calls()) ids.push_back(port.submit(std::move(call)));
  return ids;
}

}  // namespace

void bind_search(py::module_& module) {
  bind<Search>(module, "Search")
      .def("wait",
           [](Search& self) {
             return wait_in_slices(self, [&](const auto& page) { return page || self.ended(); });
           })
      .def("close", [](Search& self) {
        const ReleasedGil released;
        self.close();
      });
  bind<SearchRun>(module, "SearchRun")
      .def("submit", &submit, py::arg("worker"))
      .def("surplus", &SearchRun::surplus)
      .def(
          "deliver", [](SearchRun& self, const Outcome& outcome) { self.deliver(outcome); },
          py::arg("outcome"))
      .def("take",
           [](SearchRun& self) {
             std::optional<SearchPage> page = self.take();
             return page ? py::object(as_python(std::move(*page))) : py::none();
           })
      .def_property_readonly("done", &SearchRun::done);
}

}  // namespace tradingdata::python
