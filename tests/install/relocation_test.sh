#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# relocation_test.sh <prefix>
#
# An installation that was moved, to a folder with a space in its name, serves as before. It is a
# copy that moves, and the tests beside this one do not see it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
mkdir "${work}/first"
cp -a "$1/." "${work}/first"
mv "${work}/first" "${work}/second place"

"${here}/consumer_test.sh" "${work}/second place"
