#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh test UNSKEW FILE    - run the commands in FILE; is their output what FILE says?
# run.sh bless UNSKEW [NAME] - write the present output into the files
# run.sh print UNSKEW FILE   - FILE with what its commands print now
#
# A row is a file NAME.t:
#     # why
#     # needs: nobody                 what must be there, else the row is skipped
#     $ unskew check a.csv            run by sh in an empty folder, unskew on its PATH
#     what it prints                  standard output, then standard error marked with "! "
#     ? 1                             its status, if not 0
# "with-NAME" after needs: an optional part that unskew must have been built with.
# In a .md file the same stands between ```console and ```, standard error as on a terminal. $DATA is tests/golden/data, $RECORDED
# the folder of recorded data; where that is missing, doc/example.md stays as it is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
verb=$1
unskew=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
RECORDED=$(cd "${RECORDED:-$here/../../../shared/data}" 2>/dev/null && pwd) || RECORDED=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
mkdir "$scratch/bin"
# By a path without spaces, as rows do not quote it.
ln -s "$here/data" "$scratch/data"
[ -z "$RECORDED" ] || { ln -s "$RECORDED" "$scratch/recorded"; RECORDED=$scratch/recorded; }
export LC_ALL=C TZ=UTC NO_COLOR=1 DATA="$scratch/data" RECORDED
ln -s "$unskew" "$scratch/bin/unskew"
ln -s "$here/../../tools/verify.py" "$scratch/bin/unskew-verify"
# A user without rights: this one, or nobody where this one is root.
cat >"$scratch/bin/as-nobody" <<'END'
#!/bin/sh
[ "$(id -u)" -ne 0 ] || exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
exec "$@"
END
chmod 755 "$scratch" "$scratch/bin" "$scratch/bin/as-nobody"
PATH=$scratch/bin:$PATH

# Why a row cannot run here; nothing if it can.
lacks() {
	for need in $(sed -n 's/^# needs: //p' "$1"); do
		case $need in
		nobody)
			"$scratch/bin/as-nobody" "$unskew" --version >/dev/null 2>&1 ||
				echo "user nobody cannot run $unskew (no setpriv, or a folder above it is closed)"
			;;
		with-*)
			"$unskew" --version | sed 's/ (without.*//' | grep -q "${need#with-}" ||
				echo "this unskew was built without ${need#with-}"
			;;
		*)
			command -v "$need" >/dev/null || echo "$need is not installed"
			;;
		esac
	done
}

command_output() {
	status=0
	(cd "$scratch/work" && sh -c "$1" >"$scratch/out" 2>"$scratch/err" </dev/null) || status=$?
	cat "$scratch/out"
	sed "s/^/$mark/" "$scratch/err"
	[ $status -eq 0 ] || echo "? $status"
}

# The file again, with what its commands print now.
again() {
	rm -rf "$scratch/work"
	mkdir "$scratch/work"
	active=true old=false mark='! '
	case $1 in
	*.md) active=false mark= ;;
	esac
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'```console') active=true old=false ;;
		'```') [ "${1%.md}" = "$1" ] || active=false old=false ;;
		'# '*) old=false ;;
		'$ '*) old=false ;;
		esac
		$old && continue
		printf '%s\n' "$line"
		case $active$line in
		'true$ '*)
			command_output "${line#\$ }"
			old=true
			;;
		esac
	done <"$1"
}

case $verb in
test)
	why=$(lacks "$3" | head -n 1)
	if [ -n "$why" ]; then
		echo "$why"
		exit 77
	fi
	again "$3" >"$scratch/got"
	diff -u "$3" "$scratch/got"
	;;
print)
	again "$3"
	;;
bless)
	for file in "$here"/*.t "$here"/../../README.md "$here"/../../doc/example.md; do
		name=$(basename "${file%.*}")
		[ "$name" != example ] || [ -n "$RECORDED" ] || continue
		[ "${3:-$name}" = "$name" ] && [ -f "$file" ] || continue
		why=$(lacks "$file" | head -n 1)
		if [ -n "$why" ]; then
			echo "$name: skipped: $why"
			continue
		fi
		again "$file" >"$scratch/got"
		cmp -s "$file" "$scratch/got" || {
			cat "$scratch/got" >"$file"
			echo "$name: new"
		}
	done
	;;
esac
