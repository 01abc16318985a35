#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh <prefix> <cmake> <build folder>: a fresh installation for the tests beside it.
set -euo pipefail

rm -rf "$1"
"$2" --install "$3" --prefix "$1" >/dev/null
