# SPDX-License-Identifier: Apache-2.0
# What an installation holds besides the libraries: headers, the CMake package, pkg-config files
# and set_env.sh. Nothing in it names the prefix, so the whole may be moved. The components runtime,
# development and python are the packages of MlmarginPackages.cmake.
include(CMakePackageConfigHelpers)

# A program that calls an operator calls tensors and the runtime as well.
target_link_libraries(nnopbase INTERFACE ascendcl)
target_link_libraries(opapi_nn INTERFACE nnopbase)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION include COMPONENT development
        FILES_MATCHING PATTERN "*.h")

# ---- CMake; in share, since Debian's find_package does not look into lib64 ----
set(package_dir share/cmake/mlmargin)
set(package_build_dir ${CMAKE_BINARY_DIR}/package)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mlmarginConfig.cmake.in
  ${package_build_dir}/mlmarginConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${package_build_dir}/mlmarginConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${package_build_dir}/mlmarginConfig.cmake
              ${package_build_dir}/mlmarginConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)
install(EXPORT mlmarginTargets NAMESPACE mlmargin::
        DESTINATION ${package_dir} COMPONENT development)

# ---- pkg-config ----
# mlmargin_install_pc(<name> <description> <library>...)
function(mlmargin_install_pc name description)
  set(pc_name ${name})
  set(pc_description ${description})
  list(TRANSFORM ARGN PREPEND "-l" OUTPUT_VARIABLE pc_libraries)
  list(JOIN pc_libraries " " pc_libraries)
  set(pc_file ${package_build_dir}/${name}.pc)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/mlmargin.pc.in ${pc_file} @ONLY)
  install(FILES ${pc_file}
          DESTINATION ${MLMARGIN_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

mlmargin_install_pc(mlmargin "The multilabel margin loss for CPUs, C++ API" mlmargin)
mlmargin_install_pc(mlmargin-aclnn
  "The multilabel margin loss for CPUs behind the Ascend aclnn API"
  opapi_nn nnopbase ascendcl)

# ---- The environment ----
configure_file(${CMAKE_SOURCE_DIR}/cmake/set_env.sh.in ${package_build_dir}/set_env.sh @ONLY)
install(FILES ${package_build_dir}/set_env.sh DESTINATION . COMPONENT runtime)
