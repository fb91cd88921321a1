#!/bin/sh
# SPDX-License-Identifier: MIT
# need.sh build|check|fmt|fuzz|wheel|deb|bench|papers|tidy|cover|ci - have the Debian packages that a verb needs
#
# Nothing happens where all are there. As root, the missing ones are installed; otherwise the
# command that would is printed, and the status is 1 if it does not work without them.
set -eu

# verb     package           what it is for; ?: without it something is left out, or skipped
table='
build      libc6-dev         C library headers
build      meson             the build description
build      ninja-build       runs the build
build      pkg-config        finds libraries
build      libjansson-dev    JSON: clocks.json
build?     libpcap-dev       names of link types
build?     libbabeltrace2-dev  CTF traces of LTTng
build      zlib1g-dev        files packed with gzip
build      libzstd-dev       files packed with zstd
build?     libsodium-dev     keyed hashes: probes of other machines
build?     libyajl-dev       spans as JSON
build?     libopen-trace-format2-dev  OTF2 traces of MPI programs
build?     libtracecmd-dev   trace.dat of trace-cmd
build?     libtracefs-dev    wanted by the pkg-config file of libtracecmd
build?     libtraceevent-dev wanted by that of libtracefs
build?     coinor-libclp-dev linear programs: many clocks in one problem
check      libcmocka-dev     unit tests
check      libgmp-dev        exact rationals, the oracle of the geometry
check?     tcpdump           records and reads captures, independently of us
check?     tshark            dissects captures, independently of us; mergecap, editcap
check?     iproute2          network namespaces for a real recording
check?     nftables          address translation between such namespaces
check?     wireguard-tools   tunnels between them
check?     wireguard-go      the same where the kernel has none
check?     iperf3            traffic for it
check?     curl              traffic for it
check?     util-linux        setpriv: tests of refused permissions; taskset
check?     babeltrace2       shows CTF traces, independently of us; loads our filter
check?     lttng-tools       records CTF traces of the two processes in tests/ust
check?     liblttng-ust-dev  their tracepoints, and a clock of their own
check?     libopenmpi-dev    unskew-mpi; its tests
check?     openmpi-bin       mpirun for these
check?     zstd              packs files, independently of us
check      python3           answers requests of curl in the recording; claims of the papers; faults
check?     python3-numpy     arrays of stamps in the Python package
check?     python3-pandas    frames in it
check?     python3-jsonschema  the schema of clocks.json
check?     nodejs            bundles the page, drives its tests
check?     npm               fetches uPlot, esbuild, playwright-core, axe-core, trace_engine
check?     chromium          draws the page
wheel      python3-pip       builds the wheel of the Python package
wheel      python3-mesonpy   by the build description
wheel      python3-distutils meson wants it of a Python
wheel      patchelf          the program in the wheel finds its library
deb        debhelper         builds Debian packages
deb        dh-python         the one for Python among them
deb        libpcap-dev       packages have all that is optional
deb        libbabeltrace2-dev  CTF
deb        libsodium-dev     probes
deb        libyajl-dev       spans
deb        libopen-trace-format2-dev  OTF2
deb        libtracecmd-dev   trace.dat
deb        libtracefs-dev    wanted by the pkg-config file of libtracecmd
deb        libtraceevent-dev wanted by that of libtracefs
deb        coinor-libclp-dev linear programs
deb        npm               the page that the tarball has
deb?       lintian           looks at them
bench?     python3-numpy     how fast Python converts
bench      tcpdump           the yardstick
bench      wireshark-common  mergecap, the other yardstick
papers     gnuplot-nox       figures of doc/papers
papers     python3           runs the simulations, writes the pages
fmt        clang-format      the layout
fuzz       clang             libFuzzer
fuzz       libclang-rt-dev   and its run time
tidy       clang-tidy        static analysis
cover      gcovr             line coverage
ci         gcc               one compiler
ci         clang             the other
ci         libclang-rt-dev   its sanitizers
ci?        lld               links the tests of it quickly
ci         valgrind          uninitialised memory, which ASan does not see
ci         git               a clean checkout
'

wanted() {
	for verb; do
		echo "$table" | awk -v verb="$verb" '$1 == verb || $1 == verb "?" { print $2 }'
	done
	case ${CC:-cc} in
	cc | gcc) echo gcc ;;
	clang) echo clang ;;
	esac
}

# Every other verb builds first; ci does everything.
case ${1:-build} in
build) verbs=build ;;
ci) verbs="build check fmt ci" ;;
check | fuzz | wheel | deb | bench | cover | tidy | papers) verbs="build $1" ;;
*) verbs=$1 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "need.sh: this is no Debian; install what these packages hold: $(wanted $verbs | sort -u | tr '\n' ' ')" >&2
	exit 0
fi

# Does a verb not work without it?
needed() {
	! echo "$table" | grep -q "? *$1 "
}

missing=
fatal=
for package in $(wanted $verbs | sort -u); do
	# Node often comes from elsewhere, and Debian's packages would be in its way.
	case $package in
	nodejs) command -v node >/dev/null && continue ;;
	npm) command -v npm >/dev/null && continue ;;
	esac
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] && continue
	missing="$missing $package"
	needed "$package" && fatal=1
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "unskew: these packages are missing:$missing" >&2
	echo "unskew: install them with: sudo apt-get update && sudo apt-get install --no-install-recommends$missing" >&2
	[ ! "$fatal" ] || exit 1
	echo "unskew: going on without them: what they are for is left out, or skipped" >&2
	exit 0
fi
# told: what apt-get reports of its progress, a line every few seconds
told() {
	next=0
	while IFS=: read -r kind _ percent _; do
		case $kind in
		dlstatus) doing=fetched ;;
		pmstatus) doing=installed ;;
		*) continue ;;
		esac
		now=$(date +%s)
		[ "$now" -ge $next ] || continue
		echo "  $doing ${percent%%.*} %" >&2
		next=$((now + 3))
	done
}

# install PACKAGE...: status 0 if they are there afterwards; all that apt-get says is in $log
install() {
	apt-get update -q >"$log" 2>&1 || return 1
	echo "  fetched lists of packages" >&2
	{ apt-get install -q -y --no-install-recommends -o APT::Status-Fd=3 "$@" && : >"$log.done"; } 3>&1 >>"$log" 2>&1 | told
	rm "$log.done" 2>/dev/null
}

echo "installing, which takes a minute or two:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! install $missing; then
	tail -n 20 "$log" >&2
	rm -f "$log"
	echo "unskew: apt-get could not install:$missing" >&2
	exit 1
fi
rm -f "$log"
