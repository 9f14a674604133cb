# What goes with the extension into a wheel: a bill of materials (CycloneDX, in the place that PEP 770
# names) and the notices of what is linked in.
set(parts "")

# A part by the name that tradingdata.show_versions() gives it.
function(tradingdata_part name version licence purl)
  if(NOT purl)
    string(TOLOWER "pkg:generic/${name}@${version}" purl)
  endif()
  set(part [[{
      "type": "library",
      "name": "@name@",
      "version": "@version@",
      "purl": "@purl@",
      "bom-ref": "@purl@",
      "licenses": [{"license": {"id": "@licence@"}}]
    }]])
  string(CONFIGURE "${part}" part @ONLY)
  if(parts)
    set(part "${parts}, ${part}")
  endif()
  set(parts "${part}" PARENT_SCOPE)
endfunction()

tradingdata_part(pybind11 ${pybind11_VERSION} BSD-3-Clause pkg:pypi/pybind11@${pybind11_VERSION})
file(GLOB pybind11_licence "${pybind11_DIR}/../../../../pybind11-*.dist-info/licenses/LICENSE")
if(pybind11_licence)
  list(GET pybind11_licence 0 pybind11_licence)
  install(FILES "${pybind11_licence}"
    DESTINATION "${SKBUILD_METADATA_DIR}/licenses/third-party" RENAME pybind11.txt)
endif()

# simdjson is missing here for a reason: only tests and fuzzers link it.
if(TRADINGDATA_STATIC_CURL)
  include("${TRADINGDATA_STATIC_CURL}/static.cmake")
  set(CURL_DIR "${TRADINGDATA_STATIC_CURL}/lib/cmake/CURL")
  set(OPENSSL_USE_STATIC_LIBS ${TRADINGDATA_STATIC_OPENSSL})
  find_package(CURL REQUIRED)
  tradingdata_part(libcurl "${CURL_VERSION}" curl "${TRADINGDATA_libcurl_PURL}")
  if(TRADINGDATA_STATIC_OPENSSL)
    find_package(OpenSSL REQUIRED)
    tradingdata_part(OpenSSL "${OPENSSL_VERSION}" Apache-2.0 "${TRADINGDATA_OpenSSL_PURL}")
  endif()
  if(TRADINGDATA_STATIC_ISAL)  # in place of zlib
    file(STRINGS "${TRADINGDATA_STATIC_CURL}/include/isa-l.h" parts_of_version
      REGEX "define ISAL_(MAJOR|MINOR|PATCH)_VERSION")
    string(REGEX MATCHALL "[0-9]+" isal_version "${parts_of_version}")
    list(JOIN isal_version "." isal_version)
    tradingdata_part(isa-l "${isal_version}" BSD-3-Clause "${TRADINGDATA_isal_PURL}")
  elseif(TRADINGDATA_STATIC_ZLIB)
    find_package(ZLIB REQUIRED)
    tradingdata_part(zlib "${ZLIB_VERSION}" Zlib "${TRADINGDATA_zlib_PURL}")
  endif()
  install(DIRECTORY "${TRADINGDATA_STATIC_CURL}/notices/"
    DESTINATION "${SKBUILD_METADATA_DIR}/licenses/third-party")
endif()

file(CONFIGURE OUTPUT tradingdata.cdx.json CONTENT [[{
  "bomFormat": "CycloneDX",
  "specVersion": "1.6",
  "version": 1,
  "metadata": {
    "component": {
      "type": "library",
      "name": "tradingdata",
      "version": "@TRADINGDATA_VERSION@",
      "purl": "pkg:pypi/tradingdata@@TRADINGDATA_VERSION@",
      "bom-ref": "pkg:pypi/tradingdata@@TRADINGDATA_VERSION@",
      "licenses": [{"license": {"id": "MIT"}}]
    }
  },
  "components": [
    @parts@
  ]
}
]] @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tradingdata.cdx.json"
  DESTINATION "${SKBUILD_METADATA_DIR}/sboms")
