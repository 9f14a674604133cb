// The declarations of records and calls as plain Python data, which the package's lists follow.
#include <string_view>

#include "bindings.hpp"
#include "client/calls.hpp"
#include "table/records.hpp"

namespace tradingdata::python {

namespace {

py::tuple names_at(const Schema& schema, std::span<const int> fields) {
  py::tuple names(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) names[i] = schema.field(fields[i]).name;
  return names;
}

py::dict field(const Field& declared) {
  py::dict made;
  made["name"] = declared.name;
  made["kind"] = name_of(declared.kind);
  made["doc"] = declared.doc;
  made["personal"] = declared.personal();
  made["optional"] = declared.optional();
  return made;
}

py::dict record(const Record& declared) {
  const Schema& schema = *declared.schema;
  py::tuple fields(schema.fields.size());
  for (std::size_t i = 0; i < schema.fields.size(); ++i) fields[i] = field(schema.fields[i]);
  py::dict made;
  made["name"] = schema.record;
  made["title"] = declared.title;
  made["book"] = declared.book;
  made["noun"] = py::make_tuple(declared.noun, declared.nouns);
  made["fields"] = fields;
  made["identity"] = names_at(schema, schema.identity);
  made["event_times"] = names_at(schema, declared.event_times);
  made["display"] = names_at(schema, declared.display);
  made["narrow"] = names_at(schema, declared.narrow);
  return made;
}

py::dict call(const ServiceCall& declared) {
  py::tuple parameters(declared.parameters.size());
  for (std::size_t i = 0; i < declared.parameters.size(); ++i) {
    parameters[i] = declared.parameters[i];
  }
  py::dict made;
  made["name"] = declared.name;
  made["method"] = declared.method == Method::get ? "GET" : "POST";
  made["path"] = declared.path;
  made["parameters"] = parameters;
  made["body"] = declared.body.empty() ? py::object(py::none()) : py::str(declared.body);
  made["takes_token"] = declared.takes_token;
  made["form"] = declared.form == Decoder::Form::book ? "envelope" : "array";
  made["record"] = declared.schema->record;
  return made;
}

template <typename Declared, typename Make>
py::tuple each(const Declared& declared, const Make& make) {
  py::tuple made(declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) made[i] = make(declared[i]);
  return made;
}

}  // namespace

void bind_declarations(py::module_& module) {
  module.def("records", [] { return each(tradingdata::records, record); });
  module.def("calls", [] { return each(service_calls, call); });
}

}  // namespace tradingdata::python
