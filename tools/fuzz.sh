#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh TARGET SECONDS|merge - run one fuzz target; new inputs in fuzz/TARGET, crashes in fuzz/
#
# merge: of the new inputs a few that reach all code which the corpus does not yet, into it.
set -eu
target=$1 seconds=$2
build=build-fuzz corpus=tests/fuzz/corpus/$target

if [ ! -f tests/fuzz/fuzz_"$target".c ]; then
	echo "unskew: no fuzz target $target; there are:" tests/fuzz/fuzz_*.c >&2
	exit 2
fi
if [ ! -f $build/build.ninja ]; then
	CC=clang meson setup $build -Dfuzzer=true -Dtests=disabled \
		-Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized \
		-Dc_args="-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined \
			-fsanitize-coverage-ignorelist=$PWD/tools/fuzz.ignore"
fi
ninja -C $build tests/fuzz/fuzz_"$target"
mkdir -p fuzz/"$target"
# Memory that was freed is kept for a while; 256 MiB of it make many small inputs slow.
export ASAN_OPTIONS="quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
set -- -rss_limit_mb=1024 -timeout=20 -artifact_prefix=fuzz/"$target"-
if [ "$seconds" = merge ]; then
	exec $build/tests/fuzz/fuzz_"$target" "$@" -set_cover_merge=1 -use_counters=0 \
		"$corpus" fuzz/"$target"
fi
if [ -f tests/fuzz/"$target".dict ]; then
	set -- "$@" -dict=tests/fuzz/"$target".dict
fi
exec $build/tests/fuzz/fuzz_"$target" "$@" -max_total_time="$seconds" -print_final_stats=1 \
	fuzz/"$target" "$corpus"
