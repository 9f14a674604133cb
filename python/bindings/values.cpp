// Conversions that lose nothing: a bool is not a number, and an integer beyond 64 bits or a float
// that would round is an error.
#include "values.hpp"

#include <datetime.h>

#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/number.hpp"
#include "bindings.hpp"
#include "decode/from_arrow.hpp"
#include "privacy/shown.hpp"

namespace tradingdata::python {

namespace {

[[noreturn]] void refuse(const Field& field, PyObject* value, const char* wanted) {
  const std::string what = field.personal() ? Py_TYPE(value)->tp_name : shown(value);
  raise(PyExc_TypeError, "%s takes %s or None, not %s", field.name.data(), wanted, what.c_str());
}

[[noreturn]] void refuse_value(const Field& field, PyObject* value, const char* why) {
  const std::string what = field.personal() ? "this value" : shown(value);
  raise(PyExc_ValueError, "%s cannot be %s: %s", field.name.data(), what.c_str(), why);
}

// NumPy's integers are no ints, but give one.
bool is_integer(PyObject* value) {
  return PyIndex_Check(value) && !PyBool_Check(value);
}

// None where the integer needs more than 64 bits.
std::optional<std::int64_t> whole_of(PyObject* value) {
  const py::object whole = owned(or_park([&] { return PyNumber_Index(value); }));
  int overflow = 0;
  const long long result = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return result;
}

bool is_number(PyObject* value) {
  const PyNumberMethods* const protocol = Py_TYPE(value)->tp_as_number;
  return !PyBool_Check(value) && !PyUnicode_Check(value) && protocol != nullptr &&
         (protocol->nb_float != nullptr || protocol->nb_index != nullptr);
}

}  // namespace

std::string shown(PyObject* value) {
  constexpr std::int64_t most = 100;
  const py::object text = format("%R", value);
  Py_ssize_t size = 0;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (utf8 != nullptr) return redacted_line({utf8, static_cast<std::size_t>(size)}, most, nullptr);
  PyErr_Clear();
  return std::string("a value of type ") + Py_TYPE(value)->tp_name;
}

PyObject* make_datetime(std::chrono::year_month_day date, std::int64_t micros, py::handle zone) {
  const auto seconds = static_cast<int>(micros / micros_per_second);
  return PyDateTimeAPI->DateTime_FromDateAndTime(
      int{date.year()}, static_cast<int>(unsigned{date.month()}),
      static_cast<int>(unsigned{date.day()}), seconds / 3600, seconds / 60 % 60, seconds % 60,
      static_cast<int>(micros % micros_per_second), zone.ptr(), PyDateTimeAPI->DateTimeType);
}

PyObject* make_date(std::chrono::year_month_day date) {
  return PyDate_FromDate(int{date.year()}, static_cast<int>(unsigned{date.month()}),
                         static_cast<int>(unsigned{date.day()}));
}

py::object utc_datetime(std::int64_t micros) {
  const std::int32_t days = day_of(micros);
  return owned(
      make_datetime(calendar_date(days), micros - days * micros_per_day, PyDateTime_TimeZone_UTC));
}

// The header of the C API keeps one pointer per file.
void import_datetime() {
  PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr) throw py::error_already_set();
}

std::int64_t integer_of(const Field& field, PyObject* value) {
  if (!is_integer(value)) refuse(field, value, "an int");
  const auto whole = whole_of(value);
  if (!whole) refuse_value(field, value, "it takes integers of 64 bits");
  return *whole;
}

double number_of(const Field& field, PyObject* value) {
  if (!is_number(value)) refuse(field, value, "a float");
  if (is_integer(value)) {
    const auto whole = whole_of(value);
    const auto exact = whole ? exact_double(*whole) : std::nullopt;
    if (!exact) {
      refuse_value(field, value, "an integer beyond 2**53 would round; pass a float");
    }
    return *exact;
  }
  const double result = or_park([&] { return PyFloat_AsDouble(value); });
  if (result == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (!std::isfinite(result)) refuse_value(field, value, "it takes finite numbers");
  constexpr double exact = 9007199254740992.0;  // up to it, every integer is a double
  const bool is_float = PyFloat_CheckExact(value) != 0;
  if (!is_float && std::abs(result) >= exact && !equal(value, py::float_(result))) {
    refuse_value(field, value, "an integer beyond 2**53 would round; pass a float");
  }
  return result;
}

std::int32_t days_of(PyObject* value) {
  return days_since_epoch({std::chrono::year(PyDateTime_GET_YEAR(value)),
                           std::chrono::month(PyDateTime_GET_MONTH(value)),
                           std::chrono::day(PyDateTime_GET_DAY(value))});
}

std::int64_t micros_of(const Field& field, PyObject* value) {
  if (!PyDateTime_Check(value)) refuse(field, value, "a datetime");
  if (PyDateTime_CheckExact(value) == 0) {  // pandas has nanoseconds
    const py::object finer = attribute(value, "nanosecond", py::none());
    if (!finer.is_none() && !equal(finer, py::int_(0))) {
      refuse_value(field, value, "it takes times to the microsecond");
    }
  }
  const int seconds = PyDateTime_DATE_GET_HOUR(value) * 3600 +
                      PyDateTime_DATE_GET_MINUTE(value) * 60 + PyDateTime_DATE_GET_SECOND(value);
  return days_of(value) * micros_per_day + seconds * micros_per_second +
         PyDateTime_DATE_GET_MICROSECOND(value);
}

std::int32_t date_of(const Field& field, PyObject* value) {
  if (!PyDate_Check(value) || PyDateTime_Check(value)) refuse(field, value, "a date");
  return days_of(value);
}

std::string_view text_of(const Field& field, PyObject* value) {
  if (!PyUnicode_Check(value)) refuse(field, value, "a str");
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value, &size);
  if (text == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    refuse_value(field, value, "it holds half of a surrogate pair, which UTF-8 cannot encode");
  }
  return {text, static_cast<std::size_t>(size)};
}

// Asks the time zone for its offset at both ends of a day, and at each time only on days on which
// it changes: a call of Python for every row would be slow.

namespace {

std::int64_t micros_of(const py::object& timedelta) {
  return attribute(timedelta, "days").cast<std::int64_t>() * micros_per_day +
         attribute(timedelta, "seconds").cast<std::int64_t>() * micros_per_second +
         attribute(timedelta, "microseconds").cast<std::int64_t>();
}

// What a zone's clock shows at a time.
struct Reading {
  std::int64_t offset;
  bool second = false;  // the clock showed it before
};

// The offset by `read(micros)`, which calls Python.
template <typename Read>
ZoneOffset offset_by(const Read& read) {
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> of_day;
  std::optional<std::int64_t> of_latest;
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  const auto read_with_gil = [=](std::int64_t micros) {
    const TakenGil gil;
    return read(micros);
  };
  return [=](std::int64_t micros) mutable {
    const std::int64_t day = day_of(micros);
    if (day != latest) {
      const auto [entry, is_new] = of_day.try_emplace(day);
      if (is_new) {
        const Reading morning = read_with_gil(day * micros_per_day);
        const Reading night = read_with_gil((day + 1) * micros_per_day - 1);
        const bool same = morning.offset == night.offset && !morning.second;
        if (same) entry->second = morning.offset;
      }
      of_latest = entry->second;
      latest = day;
    }
    if (of_latest) return *of_latest;
    const Reading reading = read_with_gil(micros);
    if (reading.second) throw SecondOfTwo();
    return reading.offset;
  };
}

py::object epoch_in(const py::object& zone) {
  return call_python(attribute(imported("datetime"), "datetime"), 1970, 1, 1, 0, 0, 0, 0, zone);
}

py::object later(const py::object& epoch, const py::object& timedelta, std::int64_t micros) {
  return epoch + call_python(timedelta, 0, 0, micros);
}

std::int64_t offset_of_time(const py::object& time) {
  const py::object offset = call_python(attribute(time, "utcoffset"));
  if (offset.is_none()) throw py::value_error("the time zone has no offset from UTC");
  return micros_of(offset);
}

}  // namespace

ZoneOffset offset_of(const py::object& zone) {
  if (zone.is_none()) return nullptr;
  const py::object timedelta = attribute(imported("datetime"), "timedelta");
  const auto read = [timedelta, epoch = epoch_in(zone)](std::int64_t micros) {
    return Reading{offset_of_time(later(epoch, timedelta, micros))};
  };
  return offset_by(read);
}

ZoneOffset offset_of_instants(const py::object& zone) {
  const py::object datetime = imported("datetime");
  const py::object timedelta = attribute(datetime, "timedelta");
  const py::object epoch = epoch_in(attribute(attribute(datetime, "timezone"), "utc"));
  const auto read = [=](std::int64_t micros) {
    const py::object time =
        call_python(attribute(later(epoch, timedelta, micros), "astimezone"), zone);
    return Reading{offset_of_time(time), !equal(attribute(time, "fold"), py::int_(0))};
  };
  return offset_by(read);
}

std::string arrow_zone(const py::object& zone) {
  const py::object key = attribute(zone, "key", py::none());
  if (!key.is_none()) return key.cast<std::string>();
  if (!py::type::of(zone).is(attribute(imported("datetime"), "timezone"))) {
    throw py::value_error("Arrow knows zones by name: localize the book with a name or a ZoneInfo");
  }
  const std::int64_t offset = micros_of(call_python(attribute(zone, "utcoffset"), py::none()));
  if (offset == 0) return "UTC";
  if (offset % (60 * micros_per_second) != 0) {
    throw py::value_error("Arrow supports only UTC offsets of full minutes");
  }
  return format_offset(offset);
}

}  // namespace tradingdata::python
