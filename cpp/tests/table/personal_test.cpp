// Names of personal fields, and how their values are masked.
#include "decode/redact.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tradingdata;

TEST_CASE("personal text is masked by its shape, and masked text stays unchanged") {
  CHECK(masked("ABCDE1234F") == "ABXXXXXX4F");
  CHECK(masked("ABXXXXXX4F") == "ABXXXXXX4F");
  CHECK(masked("") == "");
  CHECK(masked("ABCDE1234") == "XXXXXXXXX");
  CHECK(masked("ABCDE-1234") == "XXXXXXXXXX");
  CHECK(masked("\xE0\xA4\x9F\xE2\x82\xB9z") == std::string(3, 'X'));
  CHECK(masked(std::string(3, 'X')) == std::string(3, 'X'));
}

TEST_CASE(
    "F120 a personal field is known by its letters, whatever their case and what joins them") {
  for (const char* name : {"pan_no", "PAN_NO", "Pan_No", "panNo", "PanNo", "PAN-NO", "pan.no",
                           "Pan No", "_pan_no", "pan__no", " pan_no "}) {
    CAPTURE(name);
    CHECK(is_personal_name(name));
  }
  for (const char* name : {"", "_", "pan", "no", "pan_n", "pan_nos", "pan_no1", "span_no",
                           "panno x", "pan/no", "p\xC3\xA4n_no", "symbol"}) {
    CAPTURE(name);
    CHECK_FALSE(is_personal_name(name));
  }
  CHECK(personal_name_at("pan_no\": 5") == 6);
  CHECK(personal_name_at("PAN NO=x") == 6);
  CHECK(personal_name_at("pan_note") == 0);
}
