#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch.sh SOURCE FOLDER - have what SOURCE/package-lock.json names in FOLDER/node_modules
set -eu
mkdir -p "$2"
cp "$1/package.json" "$1/package-lock.json" "$2"
cd "$2"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1 || {
	tail -n 3 npm.log >&2
	exit 1
}
