# The oldest compilers that are tested. An older one fails somewhere in the standard library, with
# pages of messages that do not say why; ./.ci/test floor compiles with the first two.
set(TRADINGDATA_OLDEST_GNU 11)
set(TRADINGDATA_OLDEST_Clang 16)
set(TRADINGDATA_OLDEST_AppleClang 16)
set(TRADINGDATA_OLDEST_MSVC 19.40)
set(oldest "${TRADINGDATA_OLDEST_${CMAKE_CXX_COMPILER_ID}}")
if(oldest AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
  message(FATAL_ERROR
    "tradingdata needs g++ ${TRADINGDATA_OLDEST_GNU}, clang ${TRADINGDATA_OLDEST_Clang}, Apple's clang "
    "${TRADINGDATA_OLDEST_AppleClang} or Visual C++ ${TRADINGDATA_OLDEST_MSVC}, and this is "
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: install a newer one, and name it with CXX "
    "(CXX=g++-${TRADINGDATA_OLDEST_GNU} pip install .)")
endif()
