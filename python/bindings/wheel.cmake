# What goes with the extension into a wheel: a bill of materials and the notices of what is linked in.
# simdjson is missing here for a reason: only tests and fuzzers link it.
file(GLOB pybind11_licence "${pybind11_DIR}/../../../../pybind11-*.dist-info/licenses/LICENSE")
if(pybind11_licence)
  list(GET pybind11_licence 0 pybind11_licence)
  install(FILES "${pybind11_licence}"
    DESTINATION "${SKBUILD_METADATA_DIR}/licenses/third-party" RENAME pybind11.txt)
endif()
if(TRADINGDATA_STATIC_CURL)
  install(DIRECTORY "${TRADINGDATA_STATIC_CURL}/notices/"
    DESTINATION "${SKBUILD_METADATA_DIR}/licenses/third-party")
endif()

set(bill "${CMAKE_CURRENT_BINARY_DIR}/tradingdata.cdx.json")
execute_process(
  COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/.ci/bill.py" ${TRADINGDATA_VERSION}
    ${pybind11_VERSION} "${TRADINGDATA_STATIC_CURL}" "${CMAKE_CXX_COMPILER}"
  OUTPUT_FILE "${bill}" COMMAND_ERROR_IS_FATAL ANY)
install(FILES "${bill}" DESTINATION "${SKBUILD_METADATA_DIR}/sboms")
