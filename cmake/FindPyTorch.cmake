# SPDX-License-Identifier: Apache-2.0
# The PyTorch that an interpreter imports: PyTorch_FOUND, the target PyTorch::PyTorch, and
# PyTorch_VERSION. The interpreter is MLMARGIN_PYTHON.
#
# Asked of the interpreter, since a package found otherwise need not be the one it imports, and that
# of Debian wants CUDA's and more to be found with it.
set(MLMARGIN_PYTHON /usr/bin/python3 CACHE FILEPATH "The Python interpreter to build for")

set(pytorch_question [[
import torch
from torch.utils import cpp_extension
print(torch.__version__)
print(int(torch._C._GLIBCXX_USE_CXX11_ABI))
print(*cpp_extension.include_paths(), sep=":")
print(*cpp_extension.library_paths(), sep=":")
]])
execute_process(COMMAND ${MLMARGIN_PYTHON} -c ${pytorch_question}
  OUTPUT_VARIABLE pytorch_answer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE pytorch_result)
if(pytorch_result EQUAL 0)
  string(REPLACE "\n" ";" pytorch_answer "${pytorch_answer}")
  list(GET pytorch_answer 0 PyTorch_VERSION)
  list(GET pytorch_answer 1 pytorch_abi)
  list(GET pytorch_answer 2 pytorch_include_dirs)
  list(GET pytorch_answer 3 pytorch_library_dirs)
  string(REPLACE ":" ";" pytorch_include_dirs "${pytorch_include_dirs}")
  string(REPLACE ":" ";" pytorch_library_dirs "${pytorch_library_dirs}")
  find_path(PyTorch_INCLUDE_DIR torch/library.h PATHS ${pytorch_include_dirs} NO_DEFAULT_PATH)
  foreach(library IN ITEMS torch torch_cpu c10)
    find_library(PyTorch_${library}_LIBRARY ${library} PATHS ${pytorch_library_dirs})
    list(APPEND pytorch_libraries ${PyTorch_${library}_LIBRARY})
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PyTorch
  REQUIRED_VARS PyTorch_INCLUDE_DIR PyTorch_torch_LIBRARY PyTorch_torch_cpu_LIBRARY
                PyTorch_c10_LIBRARY
  VERSION_VAR PyTorch_VERSION)

if(PyTorch_FOUND AND NOT TARGET PyTorch::PyTorch)
  # Folders that are not there are no include folders of an imported target.
  list(FILTER pytorch_include_dirs EXCLUDE REGEX "/THC?$")
  add_library(PyTorch::PyTorch INTERFACE IMPORTED)
  target_include_directories(PyTorch::PyTorch SYSTEM INTERFACE ${pytorch_include_dirs})
  target_link_libraries(PyTorch::PyTorch INTERFACE ${pytorch_libraries})
  target_compile_definitions(PyTorch::PyTorch INTERFACE _GLIBCXX_USE_CXX11_ABI=${pytorch_abi})
endif()
