# SPDX-License-Identifier: Apache-2.0
# Debian packages, one a component: `cpack` in a build folder makes them. docs/packages.md says what
# they hold and why.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mlmargin)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# Else it would be the synopsis of all; each description below begins with its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGE_VENDOR "mlmargin developers")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr/lib/mlmargin)
set(CPACK_STRIP_FILES ON)
# The places outside the prefix, after the files are installed and before they are packed.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/packages/layout.cmake)
set(CPACK_MLMARGIN_SOURCE_DIR ${CMAKE_SOURCE_DIR})
set(CPACK_MLMARGIN_MULTIARCH ${CMAKE_LIBRARY_ARCHITECTURE})

set(CPACK_COMPONENTS_ALL runtime development)
if(TARGET mlmargin_torch)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "mlmargin developers")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Dependencies on libraries are what dpkg-shlibdeps finds; a package of ours needs its own version.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(same_version "mlmargin (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME mlmargin)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/packages/triggers)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "multilabel margin loss for CPUs
The operator aclnnMultilabelMarginLoss of Huawei's Ascend, with its gradient,
for CPUs: programs written for an NPU run on these libraries unchanged, after
sourcing /usr/lib/mlmargin/set_env.sh. Results are exact to 1 ulp and have the
same bits on every machine.

This package has the libraries and the command mlmargin.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME mlmargin-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ${same_version})
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "multilabel margin loss for CPUs - development files
Headers of the aclnn API and of the C++ API of the multilabel margin loss for
CPUs, its CMake package and its pkg-config files.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-mlmargin)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${same_version}, python3, python3-torch")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/packages/postinst ${CMAKE_CURRENT_LIST_DIR}/packages/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "multilabel margin loss for PyTorch on CPUs
A drop-in for torch.nn.MultiLabelMarginLoss: threads, half types, label lists
of any length or in CSR form, and classes spread over processes.")

include(CPack)
