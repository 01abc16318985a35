#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clean_root_test.sh <build folder> <source folder> <version>
#
# dpkg installs the packages in a root of their own, where neither the source nor the build is; what
# they are for works there; and dpkg removes them without a trace. The root is this machine's, under
# an overlay that takes all changes. Where mounting is not allowed, the packages are unpacked into a
# folder and used from there, with the variables that this needs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
source=$2
version=$3

if [[ -z ${CLEAN_ROOT_WORK:-} ]]; then
  CLEAN_ROOT_WORK=$(mktemp -d)
  export CLEAN_ROOT_WORK
  trap 'rm -rf "${CLEAN_ROOT_WORK}"' EXIT
  mkdir "${CLEAN_ROOT_WORK}"/{overlay,try}
  echo "only root mounts" >"${CLEAN_ROOT_WORK}/try.log"
  # shellcheck disable=SC2016  # The inner shell expands.
  if ((EUID == 0)) && unshare --mount sh -c '
      mount -t tmpfs none "$0" && mkdir "$0"/upper "$0"/work "$0"/root &&
      mount -t overlay none -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0"/root' \
      "${CLEAN_ROOT_WORK}/try" 2>"${CLEAN_ROOT_WORK}/try.log"; then
    # All mounts of what follows end with it.
    CLEAN_ROOT_OVERLAY=true unshare --mount "$0" "$@"
  else
    echo "no overlay here, so the packages are unpacked, not installed: $(cat "${CLEAN_ROOT_WORK}/try.log")"
    CLEAN_ROOT_OVERLAY=false "$0" "$@"
  fi
  exit
fi

work=${CLEAN_ROOT_WORK}
(
  cd "${build}"
  "${CPACK:-cpack}" -B "${work}/packages"
) >"${work}/cpack.log" 2>&1 || { cat "${work}/cpack.log" >&2; exit 1; }
debs=("${work}"/packages/*.deb)

# What is taken along: programs to build, and what uses the packages.
mkdir "${work}/use"
cp -r "${source}/tests/install/consumer" "${here}/use_packages.sh" "${work}/use"

if [[ ${CLEAN_ROOT_OVERLAY} == false ]]; then
  tree=${work}/tree
  for deb in "${debs[@]}"; do
    dpkg-deb -x "${deb}" "${tree}"
  done
  multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  env -i PATH="${tree}/usr/bin:/usr/bin:/bin" HOME=/nonexistent \
    LD_LIBRARY_PATH="${tree}/usr/lib/${multiarch}" CMAKE_PREFIX_PATH="${tree}/usr" \
    PKG_CONFIG_PATH="${tree}/usr/lib/mlmargin/lib64/pkgconfig" \
    PYTHONPATH="${tree}/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 \
    "${work}/use/use_packages.sh" "${tree}" "${version}"
  exit
fi

# ---- The root ----
overlay=${work}/overlay
mount -t tmpfs none "${overlay}"
mkdir "${overlay}"/{upper,work,root}
mount -t overlay none \
  -o "lowerdir=/,upperdir=${overlay}/upper,workdir=${overlay}/work" "${overlay}/root"
for folder in proc sys dev; do
  mount --rbind "/${folder}" "${overlay}/root/${folder}"
done
mount -t tmpfs none "${overlay}/root/tmp"
cp -r "${work}/use" "${debs[@]}" "${overlay}/root/tmp"
# Neither the source nor the build is to be seen.
for folder in "${source}" "${build}"; do
  [[ ! -d ${overlay}/root${folder} ]] || mount -t tmpfs none "${overlay}/root${folder}"
done

in_root() {
  chroot "${overlay}/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive "$@"
}

# traces: the files that differ from the machine's, but for the notes of dpkg and of the loader.
traces() {
  (cd "${overlay}/upper" && find . ! -type d) |
    grep -vE '^\./(var/(lib/dpkg|log|cache)/|etc/ld\.so\.cache$|root/)' | sort
}

packages=(mlmargin mlmargin-dev python3-mlmargin)
in_root dpkg --purge "${packages[@]}" >/dev/null 2>&1
before=$(traces || true)

in_root sh -c 'dpkg -i /tmp/*.deb' >"${work}/dpkg.log" 2>&1 || { cat "${work}/dpkg.log" >&2; exit 1; }
in_root dpkg --verify "${packages[@]}" >&2
in_root ldconfig -p | grep libmlmargin.so >/dev/null || { echo "the loader's cache is old" >&2; exit 1; }
in_root test -d /usr/lib/python3/dist-packages/mlmargin/__pycache__ ||
  { echo "the first import would compile the modules" >&2; exit 1; }
in_root /tmp/use/use_packages.sh "" "${version}"

in_root dpkg -r "${packages[@]}" >"${work}/dpkg.log" 2>&1 || { cat "${work}/dpkg.log" >&2; exit 1; }
if grep -i warning "${work}/dpkg.log" >&2; then
  echo "dpkg could not remove all" >&2
  exit 1
fi
after=$(traces || true)
diff <(echo "${before}") <(echo "${after}") >&2 || { echo "dpkg -r left the files above" >&2; exit 1; }
for folder in usr/lib/mlmargin usr/share/cmake/mlmargin usr/lib/python3/dist-packages/mlmargin; do
  if [[ -e ${overlay}/root/${folder} ]]; then
    echo "dpkg -r left /${folder}" >&2
    exit 1
  fi
done
echo "installed, used and removed"
