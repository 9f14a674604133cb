// _core.Groups and _core.Fold: rows by key, their exact sums and their lots, as lists of Python
// values.
#include <pybind11/stl.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "bindings.hpp"
#include "compute/groups.hpp"
#include "compute/lots.hpp"
#include "slice.hpp"
#include "values.hpp"

namespace pybind11::detail {

// A Python integer of any size, as far as 128 bits hold it.
template <>
struct type_caster<tradingdata::int128> {
  using Integer = tradingdata::int128;
  PYBIND11_TYPE_CASTER(Integer, const_name("int"));

  static constexpr int half = 62;  // so that either half is a plain integer

  bool load(handle source, bool /*convert*/) {
    if (!PyLong_Check(source.ptr())) return false;
    const auto whole = reinterpret_borrow<int_>(source);
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (overflow == 0) return true;
    const int_ high(whole >> int_(half));
    const auto low = (whole & ((int_(1) << int_(half)) - int_(1))).cast<std::int64_t>();
    const long long top = PyLong_AsLongLongAndOverflow(high.ptr(), &overflow);
    if (overflow != 0) tradingdata::detail::refuse_amounts();
    value = tradingdata::product_of(top, Integer{1} << half) + low;
    return true;
  }

  static handle cast(Integer value, return_value_policy /*policy*/, handle /*parent*/) {
    if (value >= INT64_MIN && value <= INT64_MAX) {
      return PyLong_FromLongLong(static_cast<std::int64_t>(value));
    }
    constexpr Integer unit = Integer{1} << half;
    const Integer low = ((value % unit) + unit) % unit;
    const int_ high(static_cast<std::int64_t>((value - low) / unit));
    return ((high << int_(half)) + int_(static_cast<std::int64_t>(low))).release();
  }
};

}  // namespace pybind11::detail

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
  return py::detail::type_caster<int128>::cast(value, {}, {}).ptr();
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
  const GroupedRows grouped{self.view(), {key}};
  const auto rows = released([&] { return group_rows({&grouped, 1}).parts.front().first; });
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

// A method of a fold that returns a list for each of some values of the items.
template <typename Item, typename... Args, typename... Values>
auto lists(std::vector<Item> (LotFold::*method)(Args...) const, Values... values) {
  return [=](const LotFold& fold, Args... args) {
    return columns_of(released([&] { return (fold.*method)(args...); }), values...);
  };
}

// The same of open parts of lots.
template <typename... Args>
auto lists_of_parts(std::vector<OpenPart> (LotFold::*method)(Args...) const) {
  return lists(method, &OpenPart::lot, &OpenPart::row, &OpenPart::key, &OpenPart::is_long,
               &OpenPart::time, &OpenPart::quantity, &OpenPart::value);
}

void put(LotFold& fold, std::int64_t row, std::int32_t key, bool is_long, std::int64_t quantity,
         int128 value, std::int64_t time, std::int64_t since, std::int64_t was) {
  if (key < 0 || quantity < 1) throw py::value_error("no such lot");
  fold.put({row, key, is_long, time, since, quantity, value}, was);
}

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

  LotFold fold(const std::string& buy, int decimals, std::int64_t opening,
               std::vector<std::uint8_t> may_short, std::vector<std::int32_t> origin) const {
    require_trades();
    if (std::ssize(may_short) != size()) throw py::value_error("one permission for each group");
    if (opening < 0 || opening > at(0).size()) throw py::value_error("no such lots");
    if (!origin.empty() && std::ssize(origin) != at(0).size())
      throw py::value_error("one origin for each row");
    FoldRules rules{buy, decimals, opening, std::move(may_short), std::move(origin)};
    return released([&] { return LotFold(at(0), std::move(rules)); });
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
  py::class_<LotFold>(module, "Fold", py::is_final())
      .def(
          "run", [](LotFold& fold, std::int64_t until) { released([&] { fold.run(until); }); },
          py::arg("until"))
      .def("put", &put, py::arg("row"), py::arg("key"), py::arg("is_long"), py::arg("quantity"),
           py::arg("value"), py::arg("time"), py::arg("since"), py::arg("was") = -1)
      .def("close", &LotFold::close, py::arg("row"), py::arg("key"), py::arg("quantity"),
           py::arg("value"), py::arg("at"))
      .def("end", &LotFold::end, py::arg("lot"), py::arg("at"))
      .def("pay", &LotFold::pay, py::arg("lot"), py::arg("row"), py::arg("value"),
           py::arg("paid_for"), py::arg("at"))
      .def("held", lists_of_parts(&LotFold::held), py::arg("key"))
      .def("open", lists_of_parts<>(&LotFold::open))
      .def("open", lists_of_parts<std::int64_t>(&LotFold::open), py::arg("at"))
      .def("last_time", &LotFold::last_time, py::arg("before"))
      .def("side", &LotFold::side, py::arg("key"))
      .def("matches",
           lists(&LotFold::matches, &Match::lot, &Match::trade, &Match::is_long, &Match::quantity,
                 &Match::cost, &Match::proceeds),
           py::arg("start"), py::arg("stop"))
      .def("unmatched",
           lists(&LotFold::unmatched, &Unmatched::row, &Unmatched::key, &Unmatched::quantity,
                 &Unmatched::value),
           py::arg("start"), py::arg("stop"))
      .def("totals",
           lists(&LotFold::totals, &LotTotals::quantity, &LotTotals::cost, &LotTotals::proceeds,
                 &LotTotals::unmatched, &LotTotals::unmatched_value, &LotTotals::open,
                 &LotTotals::open_value),
           py::arg("start"), py::arg("stop"))
      .def("steps",
           lists(&LotFold::steps, &Step::key, &Step::span, &Step::quantity, &Step::value,
                 &Step::realised),
           py::arg("starts"))
      .def("rows", lists(&LotFold::rows, &KeyRows::first, &KeyRows::last), py::arg("before"))
      .def_property_readonly("undecided", &LotFold::undecided);
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
