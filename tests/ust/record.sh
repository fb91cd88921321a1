#!/bin/sh
# SPDX-License-Identifier: MIT
# record.sh OUTDIR TALK PLUGIN COUNT A_OFFSET_NS A_PPB B_OFFSET_NS B_PPB - two machines on this one
#
# In    talk and talk_clock.so of the build folder; lttng, babeltrace2, python3
# Out   OUTDIR/a and OUTDIR/b: CTF as LTTng writes it; OUTDIR/truth.json: what each clock showed
# Why   each side has daemons and a clock of its own, as two machines would; both clocks are made
#       from one monotonic time, so the truth is known to the nanosecond
# Not   root's daemon, nor anything outside OUTDIR: as root all runs as nobody
#
# A clock gains PPB in the trace itself; the daemons stamp packets by it too. Where stamps count
# from is in the metadata, measured against the wall clock when a session begins: OFFSET is added
# there afterwards.
# Exits with 77 and a sentence where it cannot run.
set -eu
LC_ALL=C
export LC_ALL
die() {
	echo "record.sh: $2" >&2
	exit "$1"
}
[ $# -eq 8 ] || die 2 "usage: record.sh OUTDIR TALK PLUGIN COUNT A_OFFSET_NS A_PPB B_OFFSET_NS B_PPB"
out=$1 talk=$2 plugin=$3 count=$4 a_offset=$5 a_ppb=$6 b_offset=$7 b_ppb=$8
for tool in lttng lttng-sessiond babeltrace2 python3 timeout; do
	command -v $tool >/dev/null 2>&1 || die 77 "$tool is not installed"
done
as=
if [ "$(id -u)" -eq 0 ]; then
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	$as true 2>/dev/null || die 77 "setpriv cannot make this user nobody"
fi

# LTTng-UST leaves a little shared memory for each user: what was not there before goes again.
shared=$(ls /dev/shm/lttng-ust-wait-* 2>/dev/null || true)

# What nobody may reach, under a short path: names of sockets are short.
work=$(mktemp -d /tmp/unskew-ust-XXXXXX)
daemons=
finish() {
	for pid in $daemons; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in $daemons; do
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
	for left in /dev/shm/lttng-ust-wait-*; do
		case "$shared" in
		*"$left"*) ;;
		*) rm -f "$left" ;;
		esac
	done
}
trap finish EXIT
trap 'exit 1' INT TERM
cp "$talk" "$work/talk"
cp "$plugin" "$work/talk_clock.so"
mkdir "$work/a" "$work/b"
chmod -R a+rX "$work"
[ -z "$as" ] || chown 65534:65534 "$work" "$work/a" "$work/b"

# become HOST COMMAND... - this shell goes on as the machine HOST; on HOST COMMAND...: a child does
become() {
	host=$1
	shift
	ppb=$b_ppb
	[ "$host" = b ] || ppb=$a_ppb
	exec $as env HOME="$work/$host" LTTNG_HOME="$work/$host" LTTNG_UST_REGISTER_TIMEOUT=5000 \
		TALK_CLOCK="$base 0 $ppb" \
		LTTNG_UST_CLOCK_PLUGIN="$work/talk_clock.so" "$@"
}
on() {
	(become "$@")
}

now() {
	python3 -c 'import time; print(time.monotonic_ns())'
}
base=$(now)
for host in a b; do
	become $host lttng-sessiond --no-kernel >"$work/$host.log" 2>&1 &
	daemons="$daemons $!"
done
for host in a b; do
	tries=0
	until on $host lttng --no-sessiond list >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || die 77 "lttng-sessiond does not start: $(tail -n 1 "$work/$host.log")"
		sleep 0.1
	done
	{
		on $host lttng --no-sessiond create talk --output="$work/$host/trace"
		on $host lttng --no-sessiond enable-event --userspace 'talk:*'
		on $host lttng --no-sessiond add-context --userspace --type=vpid
		on $host lttng --no-sessiond start
	} >>"$work/$host.log" 2>&1 || die 1 "lttng refused: $(tail -n 1 "$work/$host.log")"
done

become a timeout 60 "$work/talk" 0 "$work/port" "$count" &
answering=$!
on b timeout 60 "$work/talk" 1 "$work/port" "$count"
wait $answering
end=$(now)

for host in a b; do
	on $host lttng --no-sessiond destroy talk >>"$work/$host.log" 2>&1
done
mkdir -p "$out"
for host in a b; do
	rm -rf "${out:?}/$host"
	cp -r "$work/$host/trace" "$out/$host"
done

# The offsets, and what the clocks showed at the beginning, in the middle and at the end.
python3 - "$out" "$base" "$end" "$a_offset" "$a_ppb" "$b_offset" "$b_ppb" <<'END'
import json, pathlib, re, sys
out, base, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
error = {"a": tuple(map(int, sys.argv[4:6])), "b": tuple(map(int, sys.argv[6:8]))}
moments = [base, (base + end) // 2, end]
clock = {}
for host, (offset, ppb) in error.items():
    file = next(pathlib.Path(out, host).rglob("metadata"))
    data = file.read_bytes()
    found = re.search(rb"clock \{[^}]*\boffset = (\d+);", data)
    zero = int(found[1]) + offset
    digits = b"%0*d" % (len(found[1]), zero)
    if len(digits) != len(found[1]) or zero < 0:
        sys.exit(f"record.sh: the metadata has no room for an offset of {zero} ns")
    file.write_bytes(data[:found.start(1)] + digits + data[found.end(1):])
    clock[host] = [str(t + (t - base) * ppb // 10**9 + zero) for t in moments]
with open(out + "/truth.json", "w") as f:
    json.dump({"unskew_truth": 1, "seed": "0", "options": {}, "true_ns": list(map(str, moments)),
               "clock_ns": clock, "jumps": []}, f, indent=1)
    f.write("\n")
END
