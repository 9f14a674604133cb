# The system libraries that the core needs. If one is missing, the error names the package to install.
set(TRADINGDATA_STATIC_CURL "$ENV{TRADINGDATA_STATIC_CURL}" CACHE STRING
  "For wheels: the folder that .ci/platforms/libraries.py made; what is in it is linked in")
if(TRADINGDATA_STATIC_CURL)
  get_filename_component(folder "${TRADINGDATA_STATIC_CURL}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
  set_property(CACHE TRADINGDATA_STATIC_CURL PROPERTY VALUE "${folder}")
  include("${TRADINGDATA_STATIC_CURL}/static.cmake")
endif()

find_package(Threads REQUIRED)
set(oldest_libcurl 7.87)
find_package(CURL ${oldest_libcurl})
if(NOT CURL_FOUND AND CURL_VERSION_STRING)
  message(FATAL_ERROR
    "tradingdata needs libcurl ${oldest_libcurl} or newer, and this system has ${CURL_VERSION_STRING}: "
    "install a wheel, which brings its own (pip install --only-binary :all: tradingdata), or build with a "
    "newer one (CURL_ROOT=/opt/curl pip install .)")
endif()

function(tradingdata_require found what apt dnf apk brew)
  if(NOT ${found})
    message(FATAL_ERROR
      "tradingdata needs the ${what} headers. Install them and try again:\n"
      "  Debian, Ubuntu:  sudo apt-get install ${apt}\n"
      "  Fedora, RHEL:    sudo dnf install ${dnf}\n"
      "  Alpine:          apk add ${apk}\n"
      "  macOS:           brew install ${brew}")
  endif()
endfunction()

tradingdata_require(CURL_FOUND libcurl libcurl4-openssl-dev libcurl-devel curl-dev curl)

# What inflates gzip bodies: ISA-L where it is found, else zlib, which takes three times as long. A
# wheel takes only the static ISA-L in the folder of its libcurl.
option(TRADINGDATA_ISAL "Inflate with ISA-L where it is found" ON)
if(TRADINGDATA_ISAL)
  if(TRADINGDATA_STATIC_CURL)
    find_library(TRADINGDATA_ISAL_LIBRARY libisal.a PATHS "${TRADINGDATA_STATIC_CURL}/lib" NO_DEFAULT_PATH)
    find_path(TRADINGDATA_ISAL_INCLUDE isa-l.h PATHS "${TRADINGDATA_STATIC_CURL}/include" NO_DEFAULT_PATH)
  else()
    find_library(TRADINGDATA_ISAL_LIBRARY isal)
    find_path(TRADINGDATA_ISAL_INCLUDE isa-l.h)
  endif()
  if(TRADINGDATA_ISAL_LIBRARY AND TRADINGDATA_ISAL_INCLUDE)
    add_library(tradingdata_isal UNKNOWN IMPORTED)
    set_target_properties(tradingdata_isal PROPERTIES
      IMPORTED_LOCATION "${TRADINGDATA_ISAL_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${TRADINGDATA_ISAL_INCLUDE}"
      INTERFACE_COMPILE_DEFINITIONS TRADINGDATA_ISAL)
    set(TRADINGDATA_GZIP tradingdata_isal)
  endif()
endif()
if(NOT TRADINGDATA_GZIP)
  find_package(ZLIB)
  tradingdata_require(ZLIB_FOUND zlib zlib1g-dev zlib-devel zlib-dev zlib)
  set(TRADINGDATA_GZIP ZLIB::ZLIB)
endif()
