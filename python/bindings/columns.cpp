// Creates date, time and text objects through the C API, because this code runs for every cell.
#include "columns.hpp"

#include <datetime.h>

#include "rows.hpp"

namespace tradingdata::python {

namespace {

int month_of(const std::chrono::year_month_day& date) {
  return static_cast<int>(unsigned{date.month()});
}
int day_of_month(const std::chrono::year_month_day& date) {
  return static_cast<int>(unsigned{date.day()});
}

}  // namespace

void import_datetime() {
  PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr) throw py::error_already_set();
}

Columns::Columns(TablePtr table, py::handle zone)
    : table_(std::move(table)),
      type_(&row_type(table_->schema())),
      fields_(static_cast<const FieldFinder&>(type_->names)),
      zone_(zone),
      readers_(static_cast<std::size_t>(table_->schema().width())) {
  int field = 0;
  for (Reader& reader : readers_) {  // in place: this runs for each response, however small
    const Column& column = table_->column(field);
    reader.values = column.values;
    reader.validity = column.nulls == 0 ? nullptr : column.validity;
    reader.kind = table_->schema().field(field).kind;
    ++field;
  }
}

PyObject* Columns::text(Reader& reader, std::int64_t row) {
  const TextView& view = at<TextView>(reader, row);
  // Long text lies in the body, a record's length away from the next row's.
  constexpr std::int64_t rows_ahead = 2;
  if (row + rows_ahead < table_->rows()) {
    const TextView& later = (&view)[rows_ahead];
    if (!later.is_inline()) prefetch(table_->text(later).data());
  }
#ifdef Py_GIL_DISABLED
  return make_text(table_->text(view));
#else
  return reader.texts.get(*table_, view);
#endif
}

std::chrono::year_month_day Columns::date_of(std::int32_t days) {
#ifdef Py_GIL_DISABLED
  return calendar_date(days);
#else
  if (days != last_day_) {
    last_date_ = calendar_date(days);
    last_day_ = days;
  }
  return last_date_;
#endif
}

PyObject* Columns::timestamp(std::int64_t micros) {
  const std::int32_t day = day_of(micros);
  const std::int64_t rest = micros - day * micros_per_day;
  const auto date = date_of(day);
  const auto seconds = static_cast<int>(rest / micros_per_second);
  return PyDateTimeAPI->DateTime_FromDateAndTime(
      int{date.year()}, month_of(date), day_of_month(date), seconds / 3600, seconds / 60 % 60,
      seconds % 60, static_cast<int>(rest % micros_per_second), zone_.ptr(),
      PyDateTimeAPI->DateTimeType);
}

PyObject* Columns::date(std::int32_t days) {
  const auto date = date_of(days);
  return PyDate_FromDate(int{date.year()}, month_of(date), day_of_month(date));
}

}  // namespace tradingdata::python
