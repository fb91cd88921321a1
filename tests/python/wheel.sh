#!/bin/sh
# SPDX-License-Identifier: MIT
# wheel.sh - the wheel is built, installed into an environment of its own, and does what README.md shows
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-$(command -v /usr/bin/python3 || command -v python3)}
for module in pip mesonpy distutils venv; do
	"$python" -c "import $module" 2>/dev/null || { echo "$module is not installed for $python"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
# A copy: two builds of one folder would meet.
cp -r "$here/include" "$here/src" "$here/sim" "$here/page" "$here/python" "$here/doc" "$here/tests" "$here/bench" "$here/papers" "$here/wireshark" \
	"$here/plugin" "$here/tools" "$here"/meson* "$here"/*.toml "$here"/*.md "$here"/LICENSE "$scratch" 2>/dev/null
# What is asked is whether the parts come together, so nothing is optimised; that it is built without a warning, too, as
# hardly an optional part is in it.
CFLAGS="${CFLAGS:-} -Werror" "$scratch/tools/wheel.sh" "$scratch/dist" --config-settings=setup-args=-Doptimization=0
"$python" -m venv --without-pip "$scratch/env"
"$python" -m pip --disable-pip-version-check --python "$scratch/env/bin/python" install -q --no-index --no-deps "$scratch"/dist/*.whl
cd "$scratch"
env -u UNSKEW_LIBRARY -u PYTHONPATH -u LD_LIBRARY_PATH "$scratch/env/bin/python" "$here/tests/python/readme.py" "$here/README.md" \
	"$scratch/env/bin/unskew"
