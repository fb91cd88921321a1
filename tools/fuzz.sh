#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh TARGET SECONDS - run one fuzz target; new inputs in fuzz/TARGET, crashes in fuzz/
set -eu
target=$1 seconds=$2
build=build-fuzz

if [ ! -f tests/fuzz/fuzz_"$target".c ]; then
	echo "unskew: no fuzz target $target; there are:" tests/fuzz/fuzz_*.c >&2
	exit 2
fi
if [ ! -f $build/build.ninja ]; then
	CC=clang meson setup $build -Dfuzzer=true -Dtests=disabled \
		-Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized \
		-Dc_args='-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined'
fi
ninja -C $build tests/fuzz/fuzz_"$target"
mkdir -p fuzz/"$target"
exec $build/tests/fuzz/fuzz_"$target" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=20 \
	-artifact_prefix=fuzz/"$target"- -print_final_stats=1 fuzz/"$target" tests/fuzz/corpus/"$target"
