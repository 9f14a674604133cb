// _core.Groups: rows by key, their exact sums and their lots, as lists of Python values.
#include <pybind11/stl.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "bindings.hpp"
#include "compute/groups.hpp"
#include "compute/lots.hpp"
#include "slice.hpp"
#include "values.hpp"

namespace tradingdata::python {

namespace {

PyObject* made_from(std::int64_t value) {
  return PyLong_FromLongLong(value);
}
PyObject* made_from(std::int32_t value) {
  return PyLong_FromLong(value);
}
PyObject* made_from(bool value) {
  return PyBool_FromLong(value ? 1 : 0);
}

PyObject* made_from(int128 value) {
  if (value >= INT64_MIN && value <= INT64_MAX)
    return PyLong_FromLongLong(static_cast<std::int64_t>(value));
  constexpr int half = 62;  // so that either half is a plain integer
  constexpr int128 unit = int128{1} << half;
  const int128 low = ((value % unit) + unit) % unit;
  const auto high = py::int_(static_cast<std::int64_t>((value - low) / unit));
  return ((high << py::int_(half)) + py::int_(static_cast<std::int64_t>(low))).release().ptr();
}

py::object list_of(const Amounts& amounts) {
  std::size_t at = 0;
  return list_from(amounts.units, [&](int128 units) {
    return amounts.known[at++] ? made_from(units) : Py_NewRef(Py_None);
  });
}

// A list for each of some values of each item.
template <typename Item, typename... Values>
py::tuple columns_of(const std::vector<Item>& items, const Values&... values) {
  return py::make_tuple(
      list_from(items, [&](const Item& item) { return made_from(std::invoke(values, item)); })...);
}

KeyField key_field(const Table& table, const std::string& name) {
  constexpr std::string_view day = ".day";
  if (!name.ends_with(day)) return {field_named(table, name)};
  const int field = field_named(table, name.substr(0, name.size() - day.size()));
  if (table.schema().field(field).kind != Kind::timestamp)
    throw py::type_error(name + " is not of a timestamp");
  return {field, true};
}

// The values of a field, or the days of a timestamp, each once.
py::object distinct(const OwnedSlice& self, const std::string& name) {
  const KeyField key = key_field(self.table(), name);
  const std::vector<std::int64_t> rows = released([&] { return distinct_rows(self.view(), key); });
  if (!key.day) return cells_of(self, rows, key.field);
  const Column& column = self.table().column(key.field);
  return list_from(rows, [&](std::int64_t row) {
    const std::int64_t at = self.start() + row;
    if (!column.valid(at)) return Py_NewRef(Py_None);
    return make_date(calendar_date(day_of(column.as<std::int64_t>()[at])));
  });
}

// Eight bytes for each row; equal for rows with equal fields, and apart for almost all others.
py::bytes hashes(const OwnedSlice& self, const Names& names) {
  GroupedRows rows{self.view(), {}};
  for (const std::string& name : names) rows.key.push_back(key_field(self.table(), name));
  const std::vector<std::uint64_t> found = released([&] { return hashes_of(rows); });
  return {reinterpret_cast<const char*>(found.data()), found.size() * sizeof found.front()};
}

int128 whole_from(const py::int_& value) {
  int overflow = 0;
  const long long word = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return word;
  constexpr int half = 62;
  const py::int_ high(value >> py::int_(half));
  const auto low = (value & ((py::int_(1) << py::int_(half)) - py::int_(1))).cast<std::int64_t>();
  const long long top = PyLong_AsLongLongAndOverflow(high.ptr(), &overflow);
  if (overflow != 0) detail::refuse_amounts();
  return product_of(top, int128{1} << half) + low;
}

// A fold of lots, whose journal is lists when it is read.
class Fold {
 public:
  explicit Fold(LotFold fold) : fold_(std::move(fold)) {}

  void run(std::int64_t until) {
    released([&] { fold_.run(until); });
  }
  void put(std::int64_t row, std::int32_t key, bool is_long, std::int64_t quantity,
           const py::int_& value, std::int64_t time, std::int64_t since) {
    if (key < 0 || quantity < 1) throw py::value_error("no such lot");
    fold_.put({row, key, is_long, time, since, quantity, whole_from(value)});
  }
  void close(std::int64_t row, std::int32_t key, std::int64_t quantity, const py::int_& value,
             std::int64_t at) {
    fold_.close(row, key, quantity, whole_from(value), at);
  }
  void end(std::int64_t lot, std::int64_t at) { fold_.end(lot, at); }
  int side(std::int32_t key) const { return fold_.side(key); }

  void pay(std::int64_t lot, std::int64_t row, const py::int_& value, const py::int_& paid_for,
           std::int64_t at) {
    fold_.pay(lot, row, whole_from(value), whole_from(paid_for), at);
  }

  py::tuple open(std::optional<std::int64_t> at) const {
    return parts(released([&] { return at ? fold_.open(*at) : fold_.open(); }));
  }
  py::tuple held(std::int32_t key) const { return parts(fold_.held(key)); }
  std::int64_t last_time(std::int64_t before) const { return fold_.last_time(before); }
  py::tuple matches(std::int64_t start, std::int64_t stop) const {
    return columns_of(released([&] { return fold_.matches(start, stop); }), &Match::lot,
                      &Match::trade, &Match::is_long, &Match::quantity, &Match::cost,
                      &Match::proceeds);
  }
  py::tuple unmatched(std::int64_t start, std::int64_t stop) const {
    return columns_of(released([&] { return fold_.unmatched(start, stop); }), &Unmatched::row,
                      &Unmatched::key, &Unmatched::quantity, &Unmatched::value);
  }
  py::tuple totals(std::int64_t start, std::int64_t stop) const {
    return columns_of(released([&] { return fold_.totals(start, stop); }), &LotTotals::quantity,
                      &LotTotals::cost, &LotTotals::proceeds, &LotTotals::unmatched,
                      &LotTotals::unmatched_value, &LotTotals::open, &LotTotals::open_value);
  }
  py::tuple steps(const std::vector<std::int64_t>& starts) const {
    return columns_of(released([&] { return fold_.steps(starts); }), &Step::key, &Step::span,
                      &Step::quantity, &Step::value, &Step::realised);
  }
  py::tuple rows(std::int64_t before) const {
    return columns_of(released([&] { return fold_.rows(before); }), &KeyRows::first,
                      &KeyRows::last);
  }
  const std::vector<std::int64_t>& undecided() const { return fold_.undecided(); }

 private:
  static py::tuple parts(const std::vector<OpenPart>& items) {
    return columns_of(items, &OpenPart::lot, &OpenPart::row, &OpenPart::key, &OpenPart::is_long,
                      &OpenPart::time, &OpenPart::quantity, &OpenPart::value);
  }

  LotFold fold_;
};

class GroupsOfSlices {
 public:
  GroupsOfSlices(std::vector<OwnedSlice> slices, const Names& key, const GroupsOfSlices* within,
                 const std::vector<std::int32_t>& labels)
      : slices_(std::move(slices)) {
    std::vector<GroupedRows> parts = keyed(key);
    if (within == nullptr && !labels.empty()) parts.at(0).within = labels;
    for (std::size_t i = 0; i < parts.size() && (within != nullptr || !labels.empty()); ++i) {
      if (within != nullptr) parts[i].within = within->at(i).group;
      if (std::ssize(parts[i].within) != parts[i].rows.size())
        throw py::value_error("groups of the same rows are needed");
    }
    groups_ = released([&] { return group_rows(parts); });
  }

  std::int64_t size() const { return groups_.count; }

  const GroupPart& at(std::size_t part) const { return groups_.parts.at(part); }

  std::vector<std::int32_t> coarser(const Names& key) const {
    const std::vector<GroupedRows> parts = keyed(key);
    return released([&] { return tradingdata::coarser(groups_.parts, parts); });
  }

  py::object extremes(const std::string& name, bool greatest, std::size_t part) const {
    const int field = field_of(name, part);
    if (kind_of(field, part) != Kind::timestamp) throw py::type_error(name + " is no timestamp");
    const auto rows = released([&] { return extreme_rows(at(part), field, greatest); });
    return cells_of(slices_[part], rows, field);
  }

  std::vector<std::uint8_t> likenesses(const std::string& name, std::size_t part) const {
    return released(
        [&, field = field_of(name, part)] { return tradingdata::likenesses(at(part), field); });
  }

  py::object sums(const std::string& name, int decimals, std::size_t part) const {
    const int field = amount_field(name, part);
    return list_of(released([&] {
      const GroupPart& rows = at(part);
      return tradingdata::sums(rows, amounts_of(rows.rows, field, decimals));
    }));
  }

  py::object sums_of_products(const std::string& name, int decimals, const std::string& price,
                              int price_decimals, std::size_t part) const {
    const int field = amount_field(name, part);
    const int price_field = amount_field(price, part);
    return list_of(released([&] {
      const GroupPart& rows = at(part);
      return tradingdata::sums(rows, products(amounts_of(rows.rows, field, decimals),
                                              amounts_of(rows.rows, price_field, price_decimals)));
    }));
  }

  py::tuple multipliers(const Names& contract) const {
    require_trades();
    const std::vector<GroupedRows> parts = keyed(contract);
    const Multipliers found =
        released([&] { return multipliers_of(at(0), tradingdata::coarser(groups_.parts, parts)); });
    return py::make_tuple(found.by_group, found.odd, found.proof);
  }

  Fold fold(const std::string& buy, int decimals, std::int64_t opening,
            std::vector<std::uint8_t> may_short, std::vector<std::int32_t> origin) const {
    require_trades();
    if (std::ssize(may_short) != size()) throw py::value_error("one permission for each group");
    if (opening < 0 || opening > at(0).size()) throw py::value_error("no such lots");
    if (!origin.empty() && std::ssize(origin) != at(0).size())
      throw py::value_error("one origin for each row");
    FoldRules rules{buy, decimals, opening, std::move(may_short), std::move(origin)};
    return Fold(released([&] { return LotFold(at(0), std::move(rules)); }));
  }

 private:
  std::vector<GroupedRows> keyed(const Names& key) const {
    std::vector<GroupedRows> parts;
    for (const OwnedSlice& slice : slices_) {
      GroupedRows& part = parts.emplace_back();
      part.rows = slice.view();
      for (const std::string& name : key) part.key.push_back(key_field(slice.table(), name));
    }
    return parts;
  }

  int field_of(const std::string& name, std::size_t part) const {
    return field_named(*at(part).rows.table, name);
  }
  Kind kind_of(int field, std::size_t part) const {
    return at(part).rows.table->schema().field(field).kind;
  }
  int amount_field(const std::string& name, std::size_t part) const {
    const int field = field_of(name, part);
    const Kind kind = kind_of(field, part);
    if (kind != Kind::integer && kind != Kind::number) throw py::type_error(name + " is no number");
    return field;
  }
  void require_trades() const {
    if (at(0).rows.table->schema().record != "Trade") throw py::type_error("these are no trades");
  }

  std::vector<OwnedSlice> slices_;
  Groups groups_;
};

// The values of a part's groups or rows, as a method.
template <typename Value>
auto values_of(std::vector<Value> GroupPart::* values) {
  return [values](const GroupsOfSlices& self, std::size_t part) { return self.at(part).*values; };
}

int decimals(const std::vector<std::pair<OwnedSlice, std::string>>& columns) {
  int found = 0;
  for (const auto& [slice, name] : columns) {
    const int field = field_named(slice.table(), name);
    found = released([&] { return decimals_of(slice.view(), field, found); });
  }
  return found;
}

}  // namespace

void bind_compute(py::module_& module) {
  slice_class(module)
      .def("distinct", &distinct, py::arg("name"))
      .def("hashes", &hashes, py::arg("names"));
  module.def("decimals_of", &decimals, py::arg("columns"));
  py::class_<Fold>(module, "Fold", py::is_final())
      .def("run", &Fold::run, py::arg("until"))
      .def("put", &Fold::put, py::arg("row"), py::arg("key"), py::arg("is_long"),
           py::arg("quantity"), py::arg("value"), py::arg("time"), py::arg("since"))
      .def("close", &Fold::close, py::arg("row"), py::arg("key"), py::arg("quantity"),
           py::arg("value"), py::arg("at"))
      .def("end", &Fold::end, py::arg("lot"), py::arg("at"))
      .def("pay", &Fold::pay, py::arg("lot"), py::arg("row"), py::arg("value"), py::arg("paid_for"),
           py::arg("at"))
      .def("held", &Fold::held, py::arg("key"))
      .def("last_time", &Fold::last_time, py::arg("before"))
      .def("side", &Fold::side, py::arg("key"))
      .def("open", &Fold::open, py::arg("at") = py::none())
      .def("matches", &Fold::matches, py::arg("start"), py::arg("stop"))
      .def("unmatched", &Fold::unmatched, py::arg("start"), py::arg("stop"))
      .def("totals", &Fold::totals, py::arg("start"), py::arg("stop"))
      .def("steps", &Fold::steps, py::arg("starts"))
      .def("rows", &Fold::rows, py::arg("before"))
      .def_property_readonly("undecided", &Fold::undecided);
  py::class_<GroupsOfSlices>(module, "Groups", py::is_final())
      .def(py::init<std::vector<OwnedSlice>, const Names&, const GroupsOfSlices*,
                    const std::vector<std::int32_t>&>(),
           py::arg("parts"), py::arg("key"), py::arg("within") = py::none(),
           py::arg("labels") = std::vector<std::int32_t>())
      .def("__len__", &GroupsOfSlices::size)
      .def("coarser", &GroupsOfSlices::coarser, py::arg("key"))
      .def("numbers", values_of(&GroupPart::group), py::arg("part") = 0)
      .def("counts", values_of(&GroupPart::count), py::arg("part") = 0)
      .def("first", values_of(&GroupPart::first), py::arg("part") = 0)
      .def("last", values_of(&GroupPart::last), py::arg("part") = 0)
      .def("extremes", &GroupsOfSlices::extremes, py::arg("name"), py::arg("greatest"),
           py::arg("part") = 0)
      .def("likenesses", &GroupsOfSlices::likenesses, py::arg("name"), py::arg("part") = 0)
      .def("sums", &GroupsOfSlices::sums, py::arg("name"), py::arg("decimals"), py::arg("part") = 0)
      .def("sums_of_products", &GroupsOfSlices::sums_of_products, py::arg("name"),
           py::arg("decimals"), py::arg("price"), py::arg("price_decimals"), py::arg("part") = 0)
      .def("multipliers", &GroupsOfSlices::multipliers, py::arg("contract"))
      .def("fold", &GroupsOfSlices::fold, py::arg("buy"), py::arg("decimals"), py::arg("opening"),
           py::arg("may_short"), py::arg("origin"));
}

}  // namespace tradingdata::python
