// Functions on records and their types, and tables built from records.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "extras.hpp"
#include "released_gil.hpp"
#include "rows.hpp"
#include "slice.hpp"
#include "table/records.hpp"

namespace tradingdata::python {

namespace {

// A table of rows from several ones, which the caller keeps alive; their zones must agree.
class Union {
 public:
  void add(const Slice& slice, py::handle zone) {
    if (!zone_) zone_ = py::reinterpret_borrow<py::object>(zone);
    if (!equal(zone_, zone)) {
      throw py::value_error(
          "books in different time zones cannot be joined: localize them to the same zone");
    }
    slices_.push_back(slice);
  }

  py::object make() const {
    TablePtr joined;
    {
      // The tables are immutable, and the caller holds them.
      const ReleasedGil released;
      joined = concat(slices_);
    }
    return whole_slice(std::move(joined), zone_);
  }

  py::object make(const Schema& schema, const std::vector<std::string>& labels) const {
    TablePtr joined;
    {
      // The tables are immutable, and the caller holds them.
      const ReleasedGil released;
      joined = concat_labelled(schema, slices_, labels);
    }
    return whole_slice(std::move(joined), zone_ ? zone_ : py::none());
  }

 private:
  std::vector<Slice> slices_;
  py::object zone_;
};

const RowObject* row_of(const py::handle& row) {
  if (row_type_of(row.ptr()) == nullptr) throw py::type_error("not a record");
  return reinterpret_cast<RowObject*>(row.ptr());
}

py::object join(const py::sequence& parts) {
  Union united;
  for (const py::handle& part : parts) {
    const auto& slice = part.cast<const OwnedSlice&>();
    united.add(slice.view(), slice.zone());
  }
  return united.make();
}

py::object from_rows(const py::object& record, const py::list& rows) {
  const RowType& type = row_type_given(record);
  Union united;
  for (const py::handle& row : rows) {
    if (Py_TYPE(row.ptr()) != type.type) {
      raise(PyExc_TypeError, "a table of %s is made of %s records, not of %R",
            type.schema->record.data(), type.type->tp_name, row.ptr());
    }
    const RowObject* const object = row_of(row);
    united.add({&object->columns->table(), object->row, object->row + 1}, object->columns->zone());
  }
  if (rows.empty()) return whole_slice(std::make_shared<Table>(*type.schema));
  return united.make();
}

py::list fields_of(const py::object& record) {
  py::list result;
  const RowType& type = row_type_given(record);
  for (int i = 0; i < type.schema->width(); ++i) {
    const Field& field = type.schema->field(i);
    const auto name = py::reinterpret_borrow<py::object>(type.names.name(i));
    result.append(py::make_tuple(name, name_of(field.kind), field.doc, field.personal()));
  }
  return result;
}

// The names alone, as the objects that rows find their fields by.
py::list names_of(const py::object& record) {
  py::list result;
  const RowType& type = row_type_given(record);
  for (int i = 0; i < type.schema->width(); ++i) {
    result.append(py::reinterpret_borrow<py::object>(type.names.name(i)));
  }
  return result;
}

// One table of all rows, whose first column has the label of the slice that a row is from.
py::object labelled(const py::object& record, const py::list& parts,
                    const std::vector<std::string>& labels) {
  if (labels.size() != parts.size()) throw py::value_error("each slice takes one label");
  const RowType& type = row_type_given(record);
  Union united;
  for (const py::handle& part : parts) {
    const auto& slice = part.cast<const OwnedSlice&>();
    united.add(slice.view(), slice.zone());
  }
  return united.make(*type.schema, labels);
}

// The row alone, in the table that it keeps alive.
py::object slice_of(const py::object& row) {
  const RowObject* const object = row_of(row);
  const py::handle slice = object->owner;
  const auto& owner = slice.cast<const OwnedSlice&>();
  const std::int64_t at = object->row - owner.start();
  return as_python(owner.part(at, at + 1));
}

py::object changed(const py::object& row, const py::dict& changes) {
  const RowObject* const base = row_of(row);
  return make_record(*row_type_of(row.ptr()), changes.ptr(), base);
}

py::dict row_extras(const py::object& row) {
  py::dict extras;
  add_extras(row_of(row)->columns->table(), row_of(row)->row, extras);
  return extras;
}

}  // namespace

void bind_record_functions(py::module_& module) {
  module.def("join", &join, py::arg("parts"));
  module.def("from_rows", &from_rows, py::arg("record"), py::arg("rows"));
  module.def("fields_of", &fields_of, py::arg("record"));
  module.def("names_of", &names_of, py::arg("record"));
  module.def("labelled", &labelled, py::arg("record"), py::arg("parts"), py::arg("labels"));
  module.def("table_of", &table_of, py::arg("record"), py::arg("columns"),
             py::arg("zone") = py::none());
  module.def("changed", &changed, py::arg("row"), py::arg("changes"));
  module.def("slice_of", &slice_of, py::arg("row"));
  module.def("row_extras", &row_extras, py::arg("row"));
}

}  // namespace tradingdata::python
