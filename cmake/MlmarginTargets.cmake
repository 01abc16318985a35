# SPDX-License-Identifier: Apache-2.0
# Flags that every target of ours gets, and the one way to add a library.

add_library(mlmargin_flags INTERFACE)
target_compile_options(mlmargin_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow
  # GCC would fuse multiply and add, and the bits would hang on the target.
  -ffp-contract=off
  # What is shipped does not name the folders it was built in: the same source gives the same bytes in
  # any. What developers build does, for debuggers and for coverage.
  $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${CMAKE_BINARY_DIR}=build>
  $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=>
  $<$<BOOL:${MLMARGIN_WARNINGS_AS_ERRORS}>:-Werror>)

if(MLMARGIN_SANITIZE STREQUAL "address")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "MLMARGIN_SANITIZE=address is for Clang, since the fuzzers are libFuzzer's")
  endif()
  # A C caller may pass any number for an enum; it is answered with a code, so it must be read.
  set(sanitize_flags -fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=all
                     -fno-omit-frame-pointer)
  # Of our libraries alone: what the fuzzers are to explore.
  set(mlmargin_coverage_flags -fsanitize=fuzzer-no-link)
elseif(MLMARGIN_SANITIZE STREQUAL "thread")
  # Debian's oneTBB is not instrumented, see src/kernel/parallel_for.cc.
  set(sanitize_flags -fsanitize=thread
                     -fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/cmake/tsan_ignorelist.txt)
elseif(MLMARGIN_SANITIZE)
  message(FATAL_ERROR "MLMARGIN_SANITIZE is empty, 'address' or 'thread', "
                      "not '${MLMARGIN_SANITIZE}'")
endif()
target_compile_options(mlmargin_flags INTERFACE ${sanitize_flags})
target_link_options(mlmargin_flags INTERFACE ${sanitize_flags})
if(MLMARGIN_SANITIZE STREQUAL "address")
  # C programs use our C++ libraries, whose checks of types are in the C++ half of the runtime.
  target_link_options(mlmargin_flags INTERFACE $<$<LINK_LANGUAGE:C>:-fsanitize-link-c++-runtime>)
  target_link_libraries(mlmargin_flags INTERFACE $<$<LINK_LANGUAGE:C>:stdc++>)
endif()

# Else the length of the build folder's name would be in the libraries.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# mlmargin_add_library(<target> OUTPUT <lib name> MAP <linker map> SOURCES ... LINK ...)
#
# A shared library with an unversioned SONAME, only the symbols of its map, and a run path that
# finds its siblings. It stays mapped after dlclose, since its threads may outlive their caller.
function(mlmargin_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT;MAP" "SOURCES;LINK")
  add_library(${target} SHARED ${arg_SOURCES})
  add_library(mlmargin::${target} ALIAS ${target})
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/${arg_MAP})
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:mlmargin_flags> ${arg_LINK})
  target_compile_options(${target} PRIVATE ${mlmargin_coverage_flags})
  target_link_options(${target} PRIVATE
    # Bound at once: the handler of faults has no stack for it.
    LINKER:--version-script=${map} LINKER:-z,nodelete LINKER:-z,now
    $<$<NOT:$<BOOL:${MLMARGIN_SANITIZE}>>:LINKER:-z,defs>)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${arg_OUTPUT}
    LINK_DEPENDS ${map}
    INSTALL_RPATH $ORIGIN)
  install(TARGETS ${target} EXPORT mlmarginTargets
          LIBRARY DESTINATION ${MLMARGIN_INSTALL_LIBDIR} COMPONENT runtime)
endfunction()

# mlmargin_add_library_alias(<target> <other link name>)
#
# Another file name that CANN has or had for the library, as a symbolic link beside it.
function(mlmargin_add_library_alias target name)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE_NAME:${target}>
            $<TARGET_FILE_DIR:${target}>/lib${name}.so)
  install(FILES $<TARGET_FILE_DIR:${target}>/lib${name}.so
          DESTINATION ${MLMARGIN_INSTALL_LIBDIR} COMPONENT runtime)
endfunction()
