#!/bin/sh
# SPDX-License-Identifier: MIT
# other_machines.sh [FOLDER] [ARCH...] - the same on arm64 and s390x, emulated in a Debian 12 of its own; as root
#
# In    a clean checkout: what is committed is tried
# Out   per machine: the unit tests and the fuzz corpora, the golden rows, and whether the files that a run
#       writes have the same bytes as here
# Why   s390x has the other byte order, arm64 other rules of rounding, fusing and memory
# Not   tests that time, record or make namespaces: an emulator is none of these machines
# shellcheck disable=SC2016 # the shell inside expands them
set -eu
cd "$(dirname "$0")/.."
. tools/debian_root.sh
folder=${1:-$(mktemp -d)}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- arm64 s390x

cpu_of() {
	case $1 in
	arm64) echo aarch64 ;;
	*) echo "$1" ;;
	esac
}

enter_debian "$folder/machines"
packages='gcc meson ninja-build pkg-config python3 qemu-user-static tcpdump zstd'
for arch in amd64 "$@"; do
	chroot "$root" dpkg --add-architecture "$arch"
	for library in libc6 libjansson libpcap libbabeltrace2 zlib1g libzstd libsodium libyajl libopen-trace-format2 libtracefs libtraceevent \
		coinor-libclp libcmocka libgmp; do
		packages="$packages $library-dev:$arch"
	done
	[ "$arch" = amd64 ] || packages="$packages gcc-$(cpu_of "$arch")-linux-gnu"
done
chroot "$root" apt-get update -q >/dev/null
chroot "$root" apt-get install -q -y --no-install-recommends $packages >/dev/null
# Debian installs this library for one machine only; its files do not meet, though.
for arch in amd64 "$@"; do
	chroot "$root" sh -c 'cd /tmp && apt-get download -q libtracecmd1:$0 libtracecmd-dev:$0 &&
		for package in libtracecmd*_$0.deb; do dpkg -x $package /; done' "$arch" >/dev/null
done
checkout unskew root
# Kernels stamp datagrams; the emulator does not hand these stamps on.
sed -i 's/\* kernel\./* process./' "$root/unskew/tests/golden/probe.t"

# What is written must not depend on the machine: every format in, every format out.
cat >"$root/tmp/write.sh" <<-'END'
	set -e
	for format in pcap pcapng table; do
		unskew simulate -q -o $format --format $format --hosts 4 --seed 7 --seconds 20 --rate 30 --wander-ppb 20 \
			--offset 957ms,-3s,40us --drift-ppm 21,-7,3 --step host2@9s:-1ms
	done
	unskew simulate -q -o nat --seed 3 --nat --tso --gro --loss 1% --seconds 20 --proto mix
	gzip -n <pcap/host0.pcap >pcap/packed.pcap.gz
	for format in pcap pcapng nat; do
		unskew sync -q $format/host*.pcap* -o $format/clocks.json --merge $format/merged.pcapng \
			--messages $format/used.csv --timeline $format/timeline.json --proof $format/proof
		unskew apply -q $format/clocks.json $format/host*.pcap* -o $format/applied
		# 3: no line explains a step.
		unskew sync $format/host*.pcap* -m linear >$format/linear || [ $? -eq 3 ]
	done
	unskew simulate -q -o still --format table --hosts 5 --seed 11 --seconds 20 --offset 957ms,-3s,40us,2s --drift-ppm 21,-7,3,-40
	unskew sync -q still/messages.csv -m linear -o still/clocks.json
	unskew sync -q table/messages.csv -o table/clocks.json
	unskew apply -q table/clocks.json table/messages.csv -o table/applied.csv
	unskew compare --truth table/truth.json table/messages.csv >table/compare
	unskew check pcap/packed.pcap.gz pcap/host1.pcap >pcap/check
END
# write NAME: the sums of what this machine's unskew writes
write() {
	printf '#!/bin/sh\nexec %s /unskew/build-%s/unskew "$@"\n' "$2" "$1" >"$root/tmp/bin-$1/unskew"
	chmod 755 "$root/tmp/bin-$1/unskew"
	chroot "$root" sh -c 'rm -rf /tmp/out && mkdir /tmp/out && cd /tmp/out && PATH=$0:$PATH sh /tmp/write.sh &&
		find . -type f | sort | xargs sha256sum' "/tmp/bin-$1" >"$folder/sums-$1"
}

failed=
say() {
	echo "$1"
	[ "$2" -eq 0 ] || failed=1
}
mkdir -p "$root/tmp/bin-amd64"
chroot "$root" sh -c 'cd /unskew && meson setup build-amd64 -Dtests=disabled && ninja -C build-amd64 unskew' >"$folder/log-amd64"
write amd64 ''

for arch; do
	cpu=$(cpu_of "$arch") endian=little
	[ "$arch" != s390x ] || endian=big
	type=$cpu-linux-gnu
	qemu=qemu-$cpu-static
	mkdir -p "$root/tmp/bin-$arch"
	cat >"$root/tmp/$arch.ini" <<-END
		[binaries]
		c = '$type-gcc'
		ar = '$type-ar'
		strip = '$type-strip'
		pkgconfig = 'pkg-config'
		exe_wrapper = '$qemu'
		[properties]
		pkg_config_libdir = ['/usr/lib/$type/pkgconfig', '/usr/share/pkgconfig']
		[host_machine]
		system = 'linux'
		cpu_family = '$cpu'
		cpu = '$cpu'
		endian = '$endian'
	END
	status=0
	chroot "$root" sh -c 'cd /unskew && meson setup build-$0 --cross-file /tmp/$0.ini -Dtests=enabled &&
		ninja -C build-$0 unskew' "$arch" >"$folder/log-$arch" || status=$?
	say "$arch: build: status $status" $status
	[ $status -eq 0 ] || continue

	status=0
	write "$arch" "$qemu" || status=$?
	diff "$folder/sums-amd64" "$folder/sums-$arch" || status=$?
	say "$arch: $(wc -l <"$folder/sums-$arch") files, those of amd64: status $status" $status

	# An eighth of the random cases: an emulator is fifty times slower.
	status=0
	chroot "$root" sh -c 'cd /unskew && USK_CASES=${USK_CASES:-/8} meson test -C build-$0 \
		--suite unit --suite fuzz -t 20 --print-errorlogs' "$arch" >>"$folder/log-$arch" 2>&1 || status=$?
	tools/summary.sh "$root/unskew/build-$arch/meson-logs/testlog.json" || status=1
	say "$arch: unit tests and fuzz corpora: status $status, $(grep -c 'warning:' "$folder/log-$arch") warnings" $status

	rm -f "$root"/tmp/golden-*
	(cd "$root/unskew/tests/golden" && ls -- *.t) | xargs -P "$(nproc)" -I ROW chroot "$root" sh -c '
		/unskew/tests/golden/run.sh test /tmp/bin-$0/unskew /unskew/tests/golden/$1 >/tmp/golden-$1 2>&1
		echo $? >/tmp/golden-$1.status' "$arch" ROW
	for row in "$root"/tmp/golden-*.t; do
		name=${row##*/golden-}
		case $(cat "$row.status") in
		0) ;;
		77) echo "$arch: golden $name: skipped: $(cat "$row")" ;;
		*)
			cat "$row"
			say "$arch: golden $name: failed" 1
			;;
		esac
	done
	say "$arch: $(cat "$root"/tmp/golden-*.status | grep -c '^0$') golden rows passed" 0
done
[ ! "$failed" ]
