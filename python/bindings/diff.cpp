// _core.OrderDiff: what happened between two books of orders, as rows that own their storage.
#include "table/diff.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "released_gil.hpp"
#include "rows.hpp"
#include "slice.hpp"
#include "table/records.hpp"

namespace tradingdata::python {

namespace {

// Rows of two tables, copied into one: who keeps a change keeps its neighbours, and no book.
class Copies {
 public:
  Copies(const OwnedSlice& orders, const OwnedSlice& previous)
      : orders_(orders), previous_(previous) {}

  void add(const Table& table, std::int64_t row) { slices_.push_back({&table, row, row + 1}); }

  void make() {
    TablePtr table;
    {
      // The tables are immutable, and the diff holds them.
      const ReleasedGil released;
      table = concat(slices_);
    }
    slices_.clear();
    next_ = 0;
    as_orders_ = whole_slice(table, orders_.zone());
    const bool alike = equal(previous_.zone(), orders_.zone());
    as_previous_ = alike ? as_orders_ : whole_slice(table, previous_.zone());
  }

  py::object next_order() { return make_row(as_orders_, next_++); }
  py::object next_previous() { return make_row(as_previous_, next_++); }

 private:
  const OwnedSlice& orders_;
  const OwnedSlice& previous_;
  std::vector<Slice> slices_;
  std::int64_t next_ = 0;
  py::object as_orders_;
  py::object as_previous_;
};

class Diff {
 public:
  Diff(OwnedSlice orders, OwnedSlice previous, const std::vector<std::string>& ignore)
      : orders_(std::move(orders)), previous_(std::move(previous)) {
    // The tables are immutable, and held by this object.
    const ReleasedGil released;
    found_ = diff_orders(orders_.view(), previous_.view(), ignore,
                         [checked = std::chrono::steady_clock::now()]() mutable {
                           const auto now = std::chrono::steady_clock::now();
                           if (now - checked < std::chrono::milliseconds(10)) return;
                           checked = now;
                           check_signals();
                         });
  }

  py::list older() const {
    py::list result;
    for (const OlderOrder& order : found_.older) {
      result.append(py::make_tuple(order.row - orders_.start(), order.previous - previous_.start(),
                                   order.occurrence));
    }
    return result;
  }

  // (kind, order, previous, fields) each, but for those of the rows in `without`.
  py::list changes(const py::frozenset& without) const {
    std::vector<const OrderChange*> wanted;
    for (const OrderChange& change : found_.changes) {
      if (without.empty() || !without.contains(change.row - orders_.start()))
        wanted.push_back(&change);
    }
    py::list result;
    Copies copies(orders_, previous_);
    for (std::size_t done = 0; done < wanted.size(); done += together) {
      check_signals();
      const auto part = std::span(wanted).subspan(done, std::min(together, wanted.size() - done));
      for (const OrderChange* change : part) {
        if (change->row >= 0) copies.add(orders_.table(), change->row);
        if (change->previous >= 0) copies.add(previous_.table(), change->previous);
      }
      copies.make();
      for (const OrderChange* change : part) result.append(as_python(*change, copies));
    }
    return result;
  }

 private:
  // At most 16 changes share their storage: few enough to be kept for the sake of one of them.
  static constexpr std::size_t together = 16;

  static py::tuple as_python(const OrderChange& change, Copies& copies) {
    const std::string_view kind = name_of(change.kind);
    if (change.kind == ChangeKind::gone) {
      const py::object last = copies.next_previous();
      return py::make_tuple(kind, last, last, py::tuple());
    }
    const py::object order = copies.next_order();
    const py::object previous =
        change.previous >= 0 ? copies.next_previous() : py::object(py::none());
    py::tuple fields(change.fields.size());
    for (std::size_t i = 0; i < change.fields.size(); ++i) fields[i] = py::str(change.fields[i]);
    return py::make_tuple(kind, order, previous, fields);
  }

  OwnedSlice orders_;
  OwnedSlice previous_;
  OrderDiff found_;
};

}  // namespace

void bind_diff(py::module_& module) {
  py::class_<Diff>(module, "OrderDiff", py::is_final())
      .def(py::init<OwnedSlice, OwnedSlice, const std::vector<std::string>&>(), py::arg("orders"),
           py::arg("previous"), py::arg("ignore"))
      .def_property_readonly("older", &Diff::older)
      .def("changes", &Diff::changes, py::arg("without") = py::frozenset(py::tuple()));
}

}  // namespace tradingdata::python
