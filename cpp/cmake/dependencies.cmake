# The system's libraries that the core stands on; a missing one is named the way its user installs it.
find_package(Threads REQUIRED)
find_package(CURL 7.76)
find_package(ZLIB)

function(tradingdata_require found what apt dnf brew)
  if(NOT ${found})
    message(FATAL_ERROR
      "tradingdata needs the ${what} headers. Install them and try again:\n"
      "  Debian, Ubuntu:  sudo apt-get install ${apt}\n"
      "  Fedora, RHEL:    sudo dnf install ${dnf}\n"
      "  macOS:           brew install ${brew}")
  endif()
endfunction()

tradingdata_require(CURL_FOUND libcurl libcurl4-openssl-dev libcurl-devel curl)
tradingdata_require(ZLIB_FOUND zlib zlib1g-dev zlib-devel zlib)
