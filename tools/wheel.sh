#!/bin/sh
# SPDX-License-Identifier: MIT
# wheel.sh FOLDER [PIP OPTIONS] - the wheel of the Python package, by the packages of Debian alone
#
# pip takes the folder as it is, so that its name can be any; nothing is downloaded.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
python=${PYTHON:-$(command -v /usr/bin/python3 || command -v python3)}
rm -f "$out"/unskew-*.whl
log=$(mktemp)
trap 'rm -f "$log"' EXIT
PATH=$(dirname "$python"):$PATH "$python" -m pip --disable-pip-version-check wheel --no-index --no-build-isolation \
	--no-deps -w "$out" "$@" . >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
