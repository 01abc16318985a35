# SPDX-License-Identifier: Apache-2.0
# GCC's libbacktrace, which lies in a folder of the compiler: the target Libbacktrace::Libbacktrace.
# Clang knows that folder too, as it takes its run-time library from there.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libbacktrace.a
  OUTPUT_VARIABLE libbacktrace_file OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
get_filename_component(libbacktrace_dir "${libbacktrace_file}" DIRECTORY)
find_library(Libbacktrace_LIBRARY NAMES libbacktrace.a
  HINTS ${libbacktrace_dir} NO_CMAKE_FIND_ROOT_PATH)
find_path(Libbacktrace_INCLUDE_DIR backtrace.h
  HINTS ${libbacktrace_dir}/include NO_CMAKE_FIND_ROOT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libbacktrace
  REQUIRED_VARS Libbacktrace_LIBRARY Libbacktrace_INCLUDE_DIR)

if(Libbacktrace_FOUND AND NOT TARGET Libbacktrace::Libbacktrace)
  add_library(Libbacktrace::Libbacktrace STATIC IMPORTED)
  set_target_properties(Libbacktrace::Libbacktrace PROPERTIES
    IMPORTED_LOCATION ${Libbacktrace_LIBRARY})
endif()
