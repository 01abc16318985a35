#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# reproducible_test.sh <source folder> <build folder>
#
# The same source gives the same bytes in folders of other names and lengths. Some sources are
# compiled as for a release, with debug information on top, twice; of what is built already, the run
# paths are looked at. script/release --check-reproducible compares whole releases, which takes long.
set -euo pipefail

source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
status=0

fail() {
  echo "$*" >&2
  status=1
}

objects=(src/runtime/CMakeFiles/ascendcl.dir/async_copy.cc.o
         src/runtime/CMakeFiles/ascendcl.dir/call_site.cc.o
         src/kernel/CMakeFiles/kernel_objects.dir/check_arguments.cc.o)

# compile_in <folder> <cmake's arguments>...
compile_in() {
  local folder=$1
  shift
  mkdir -p "${folder}"
  cp -r "${source}"/{CMakeLists.txt,CMakePresets.json,cmake,include,src} "${folder}"
  if ! (
    cd "${folder}"
    "${CMAKE:-cmake}" --preset release -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" \
      -DCMAKE_CXX_COMPILER="${CXX:-c++}" -DMLMARGIN_BUILD_EXAMPLES=OFF \
      -DMLMARGIN_BUILD_TOOLS=OFF -DMLMARGIN_BUILD_PYTHON=OFF &&
      "${CMAKE:-cmake}" --build build/release --target "${objects[@]}"
  ) >"${work}/log" 2>&1; then
    cat "${work}/log" >&2
    exit 1
  fi
}

compile_in "${work}/first"
compile_in "${work}/another folder/of another length"
for object in "${objects[@]}"; do
  first=${work}/first/build/release/${object}
  cmp "${first}" "${work}/another folder/of another length/build/release/${object}" >&2 ||
    fail "${object} differs"
  if grep -qF "${work}" "${first}"; then
    fail "${object} names its folder: $(strings "${first}" | grep -F "${work}" | head -n 3)"
  fi
done

for file in "${build}"/lib64/*.so "${build}/bin/mlmargin" "${build}/python/mlmargin/_torch.so"; do
  run_path=$(readelf -d "${file}" | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\].*/\2/p')
  if [[ ${run_path} == *"${build}"* ]]; then
    fail "${file}: its length depends on the folder's, by the run path '${run_path}'"
  fi
done
exit "${status}"
