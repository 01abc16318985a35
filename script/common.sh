# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions of the scripts beside it, which source it. They may be run from any folder, as root or
# as a user with sudo, on a bare Debian bookworm.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "${repository}"

# shellcheck disable=SC2034  # For the scripts.
build_packages=(cmake ninja-build make g++ clang libhwy-dev libtbb-dev libfmt-dev libspdlog-dev
                nlohmann-json3-dev libcli11-dev libxtensor-dev libzip-dev pkg-config)
# For the PyTorch package and its example.
python_packages=(python3-torch libtorch-dev python3-tqdm python3-matplotlib)
# For Debian packages.
release_packages=(dpkg-dev file)
# shellcheck disable=SC2034
test_packages=(libgtest-dev libgmock-dev librapidcheck-dev libmpfr-dev libgmp-dev clang-format
               clang-tidy cppcheck shellcheck gcovr doxygen groff gdb python3-yaml libclang-rt-14-dev
               "${python_packages[@]}" "${release_packages[@]}" python3-numpy python3-scipy python3-pip
               python3-setuptools python3-wheel python3-dev git)

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

step() {
  printf '\n== %s\n' "$*"
}

# handle_help "text" "$@": prints the text and ends if the only argument is --help; complains about
# any other argument.
handle_help() {
  local text=$1
  shift
  case "$#:${1:-}" in
    0:) ;;
    1:--help | 1:-h)
      echo "${text}"
      exit 0
      ;;
    *) die "unknown arguments: $* (try --help)" ;;
  esac
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "'$*' needs root: run this as root, or install sudo"
  fi
}

have_package_lists() {
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null
}

update_package_lists() {
  as_root apt-get update -q
}

# What is not installed of the packages given, a line each.
missing_packages() {
  local installed package
  # shellcheck disable=SC2016  # The fields are dpkg-query's.
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "${package} installed" <<<"${installed}" || echo "${package}"
  done
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -- "$@"
}

# Installs what is missing of the packages given. Old package lists may name files that are gone,
# so a failure is tried again with new lists.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  step "Installing ${missing[*]}"
  if have_package_lists && apt_install "${missing[@]}"; then
    return 0
  fi
  update_package_lists
  apt_install "${missing[@]}"
}

# What goes before programs with sanitizers: GCC 12's and Clang 14's cannot place their shadow memory
# when the kernel spreads addresses over more than 28 bits.
sanitized=()
if (($(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0) > 28)); then
  # shellcheck disable=SC2034  # For the scripts.
  sanitized=(setarch "$(uname -m)" --addr-no-randomize)
fi

# build_preset <name> [<prefix>...]: configures and builds everything, with a command before cmake.
build_preset() {
  local preset=$1
  shift
  local log=build/${preset}.configure.log
  mkdir -p build
  if ! cmake --preset "${preset}" >"${log}" 2>&1; then
    cat "${log}" >&2
    die "configuring ${preset} failed"
  fi
  "$@" cmake --build --preset "${preset}"
}
