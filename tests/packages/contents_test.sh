#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# contents_test.sh <build folder> <version>
#
# What the packages say of themselves and hold: all that an installation has, each file once, under
# the prefix but for what Debian wants elsewhere. Packed twice they have the same bytes.
set -euo pipefail

build=$1
version=$2
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
status=0

fail() {
  echo "$*" >&2
  status=1
}

# pack <folder>: as anybody might, with a umask that hides files from others.
pack() {
  mkdir "$1"
  (
    umask 077
    cd "${build}"
    SOURCE_DATE_EPOCH=1700000000 "${CPACK:-cpack}" -B "$1" >"$1.log" 2>&1
  ) || { cat "$1.log" >&2; exit 1; }
  rm -r "$1/_CPack_Packages"
}

# field <package> <name>
field() {
  dpkg-deb -f "${work}/first/$1_${version}_${architecture}.deb" "$2"
}

# expect_field <package> <name> <pattern>
expect_field() {
  [[ $(field "$1" "$2") =~ ^($3)$ ]] || fail "$1: $2 is '$(field "$1" "$2")', not '$3'"
}

architecture=$(dpkg --print-architecture)
pack "${work}/first"
pack "${work}/of-another-length"
diff -r "${work}/first" "${work}/of-another-length" >&2 || fail "the same build was packed in two ways"

packages=$(cd "${work}/first" && printf '%s\n' *.deb)
expected=$(printf "%s_${version}_${architecture}.deb\n" mlmargin-dev mlmargin python3-mlmargin)
[[ ${packages} == "${expected}" ]] || fail "there are ${packages}"

expect_field mlmargin Section libs
expect_field mlmargin-dev Section libdevel
expect_field python3-mlmargin Section python
expect_field mlmargin-dev Depends "mlmargin \(= ${version}\)"
expect_field python3-mlmargin Depends \
  "mlmargin \(= ${version}\), python3, python3-torch, .*libc6 .*libtorch.*"
expect_field mlmargin Depends ".*libc6 \(>= .*libhwy1 .*libstdc\+\+6 .*libtbb12 .*"
for package in mlmargin mlmargin-dev python3-mlmargin; do
  expect_field "${package}" Package "${package}"
  expect_field "${package}" Version "${version}"
  expect_field "${package}" Maintainer "mlmargin developers"
  [[ $(field "${package}" Description) == "multilabel margin loss for"*$'\n'* ]] ||
    fail "${package}: its description is '$(field "${package}" Description)'"

  deb=${work}/first/${package}_${version}_${architecture}.deb
  dpkg-deb -x "${deb}" "${work}/${package}"
  dpkg-deb -e "${deb}" "${work}/${package}.control"
  (cd "${work}/${package}" && md5sum --quiet -c "${work}/${package}.control/md5sums") >&2 ||
    fail "${package}: its md5sums are not those of its files"
  for file in copyright changelog.gz; do
    [[ -s ${work}/${package}/usr/share/doc/${package}/${file} ]] || fail "${package}: no ${file}"
  done
  if dpkg-deb -c "${deb}" | awk '$2 != "root/root"' | grep .; then
    fail "${package}: not all files are root's"
  fi
  find "${work}/${package}" -mindepth 1 \( -type d -o -type f -executable \) ! -perm 755 \
    -o -type f ! -executable ! -perm 644 >"${work}/odd"
  [[ ! -s ${work}/odd ]] || fail "${package}: odd permissions: $(cat "${work}/odd")"
done

# names <folder>: of the files below, as Debian has them where it wants them elsewhere.
names() (
  cd "$1"
  find . ! -type d | sed 's|^\./||'
)
"${CMAKE:-cmake}" --install "${build}" --prefix "${work}/prefix" >/dev/null
names "${work}/prefix" | sed '
  s|^lib64/python/mlmargin/|usr/lib/python3/dist-packages/mlmargin/|
  s|^share/man/.*|usr/&.gz|
  s|^share/|usr/share/|
  s|^usr/share/cmake/|usr/lib/mlmargin/share/cmake/|
  /^usr/! s|^|usr/lib/mlmargin/|' | sort >"${work}/installed"
for package in mlmargin mlmargin-dev python3-mlmargin; do
  names "${work}/${package}"
done | sort >"${work}/packed"
if uniq -d "${work}/packed" | grep . >&2; then
  fail "the files above are in two packages"
fi
if comm -23 "${work}/installed" "${work}/packed" | grep . >&2; then
  fail "the files above are installed, but in no package: their install rule names no component"
fi
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
comm -13 "${work}/installed" "${work}/packed" | grep -v '^usr/share/doc/' >"${work}/beyond" || true
diff - "${work}/beyond" >&2 <<END || fail "beyond an installation there is not what is expected"
usr/bin/mlmargin
usr/lib/${multiarch}/libmlmargin.so
usr/lib/${multiarch}/pkgconfig/mlmargin-aclnn.pc
usr/lib/${multiarch}/pkgconfig/mlmargin.pc
usr/share/cmake/mlmargin/mlmarginConfig.cmake
usr/share/cmake/mlmargin/mlmarginConfigVersion.cmake
END
exit "${status}"
