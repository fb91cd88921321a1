#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh BUILD OUT - Debian packages of the last commit, from its tarball alone
#
# In    a build folder, whose page the tarball has; the network is not needed
# Out   OUT/unskew_*.deb and the others, and what lintian says of them
set -eu
build=$1 out=$2
rm -rf "$build/deb"
mkdir -p "$out" "$build/deb"
meson dist -C "$build" --no-tests --allow-dirty --formats xztar >/dev/null
tar -xf "$build"/meson-dist/unskew-*.tar.xz -C "$build/deb"
cd "$build"/deb/unskew-*
cp -r packaging/debian debian
DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -us -uc -b >../log 2>&1 || { tail -n 40 ../log; exit 1; }
cd - >/dev/null
cp "$build"/deb/*.deb "$out"
if command -v lintian >/dev/null; then
	lintian --fail-on error,warning --allow-root "$build"/deb/*.changes
fi
