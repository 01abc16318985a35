#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release_test.sh <source folder>
#
# script/release refuses what is not a release, packs what git has, and --check-reproducible sees a
# build that is not the same twice. Run in a repository of its own, with a cmake and a cpack that take
# no time: they "build" the file product, in which @folder@ and @time@ are the builder's.
set -euo pipefail

source=$1
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
status=0

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=tester@example.org
export GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=tester@example.org

mkdir "${work}/bin"
cat >"${work}/bin/cmake" <<'STUB'
#!/bin/sh
[ "$1" = --build ] || exit 0
mkdir -p build/release/lib64 build/release/bin build/release/python/mlmargin
for file in lib64/libmlmargin.so bin/mlmargin python/mlmargin/_torch.so; do
  sed "s|@folder@|${PWD}|; s|@time@|$(date +%N)|" product >"build/release/${file}"
done
STUB
cat >"${work}/bin/cpack" <<'STUB'
#!/bin/sh
mkdir packages
cp lib64/libmlmargin.so "packages/mlmargin_${SOURCE_DATE_EPOCH}_all.deb"
STUB
chmod +x "${work}"/bin/*
PATH=${work}/bin:${PATH}

# new_repository: with a commit of what script/release reads, and without a tag.
new_repository() {
  rm -rf "${work}/repository"
  mkdir -p "${work}/repository/include/mlmargin"
  cd "${work}/repository"
  cp -r "${source}/script" .
  echo /build/ >.gitignore
  printf '#define MLMARGIN_VERSION_%s\n' 'MAJOR 1' 'MINOR 2' 'PATCH 3' >include/mlmargin/version.h
  printf '# Changes\n\n## 1.2.3 (2026-01-02)\n\n## 1.2.2 (2026-01-01)\n' >CHANGELOG.md
  echo "the same for all" >product
  git init -q .
  commit
}

commit() {
  git add -A
  git commit -q -m "A change"
}

# expect <ending: pass or fail> <words> [<argument>...]: of script/release.
expect() {
  local ending=pass wanted=$1 words=$2
  shift 2
  script/release "$@" >"${work}/log" 2>&1 || ending=fail
  if [[ ${ending} != "${wanted}" ]] || ! grep -qF -- "${words}" "${work}/log"; then
    echo "script/release $*: expected to ${wanted} with '${words}', but it did ${ending}:" >&2
    cat "${work}/log" >&2
    status=1
  fi
}

# ---- What is no release ----
new_repository
expect fail "include/mlmargin/version.h says 1.2.3, not 1.2.4" 1.2.4
expect fail "unknown arguments: 1.2" 1.2
echo more >>product
expect fail "not committed"
git checkout -q product
touch untracked
expect fail "not committed"
rm untracked

sed -i 's/1\.2\.3/1.2.30/' CHANGELOG.md
commit
expect fail "CHANGELOG.md begins with '## 1.2.30 (2026-01-02)', not with '## 1.2.3'"
echo "# Changes" >CHANGELOG.md
commit
expect fail "CHANGELOG.md begins with '', not with '## 1.2.3'"

new_repository
git tag v1.2.3
echo more >>product
commit
expect fail "HEAD is not v1.2.3"

new_repository
sed -i 's/2026-01-02/unreleased/' CHANGELOG.md
commit
expect pass "A rehearsal"
git tag v1.2.3
expect fail "v1.2.3 exists, but CHANGELOG.md says '## 1.2.3 (unreleased)'"

# ---- What is one ----
new_repository
expect pass "Next: git tag -a v1.2.3 $(git rev-parse HEAD)" 1.2.3
git tag -a -m "Version 1.2.3" v1.2.3
expect pass "Next: upload these files" --check-reproducible 1.2.3
files=$(cd build/release-1.2.3 && printf '%s ' *)
time=$(git log -1 --format=%ct)
if [[ ${files} != "SHA256SUMS mlmargin-1.2.3.tar.gz mlmargin_${time}_all.deb " ]]; then
  echo "the release is ${files}" >&2
  status=1
fi
(cd build/release-1.2.3 && sha256sum --quiet -c SHA256SUMS) || status=1
tar -xzf build/release-1.2.3/mlmargin-1.2.3.tar.gz -C "${work}"
diff -r --exclude=.git --exclude=build . "${work}/mlmargin-1.2.3" >&2 || status=1

# ---- What is not the same twice ----
new_repository
echo "built in @folder@" >product
commit
expect fail "names the folder it was built in"
echo "built at @time@" >product
commit
expect fail "what was built differs" --check-reproducible
exit "${status}"
