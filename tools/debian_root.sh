# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# debian_root.sh - sourced: enter_debian ROOT [PACKAGE...] makes a minimal Debian 12 in the folder ROOT to chroot into, or
# goes on with one that is there; its mounts go when the caller ends. MIRROR: where packages come from.

enter_debian() {
	root=$1
	shift
	[ "$(id -u)" -eq 0 ] || { echo "only root may make a system of its own" >&2; exit 1; }
	command -v debootstrap >/dev/null || { echo "install debootstrap" >&2; exit 1; }
	if [ ! -d "$root/etc" ]; then
		debootstrap --variant=minbase --include=ca-certificates,git,make bookworm "$root" \
			"${MIRROR:-http://deb.debian.org/debian}" >/dev/null
	fi
	# A mount of its own, as / is elsewhere: tests that make namespaces change how it is shared.
	mount --bind "$root" "$root"
	trap 'umount -lR "$root"' EXIT
	trap 'exit 1' INT TERM
	mount --make-private "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	mount --make-rslave "$root/sys"
	mount --make-rslave "$root/dev"
	cp /etc/resolv.conf "$root/etc/"
	printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$root/etc/hosts" # as every installed system has
	# Whoever is behind a proxy that signs for others has its certificate here.
	cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
	# What a power cut would leave of this system matters to nobody, and waiting for the disk takes most of the time.
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
	export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt DEBIAN_FRONTEND=noninteractive
	[ $# -eq 0 ] || chroot "$root" apt-get install -q -y --no-install-recommends "$@" >/dev/null 2>&1
}

# as_user USER COMMAND: in the Debian, by a shell of that user's
as_user() {
	chroot "$root" su -l -w NODE_EXTRA_CA_CERTS,TEST_FLAGS "$1" -c "$2" 2>&1
}

# inside USER COMMAND: its output is in $root/tmp/log, its status in $status
inside() {
	status=0
	as_user "$1" "$2" >"$root/tmp/log" || status=$?
}

# checkout FOLDER USER: what is committed here, in the Debian
checkout() {
	rm -rf "${root:?}/$1"
	git clone -q . "$root/$1"
	chroot "$root" chown -R "$2" "/$1"
}
