#!/usr/bin/env bash
# The preset `portable` makes a program that runs with glibc alone, and with
# one as old as this machine allows.
#
# Its rooms are compiled as those of the release tree: where all flags are the
# same, their archives serve, and only the program is linked. At night all of it
# is built.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 COST 60 FIXTURES_SETUP portable_build
set -euo pipefail
: "${SOURCE:?the source folder}" "${BUILD:?the build folder}"

# Debian 12, Ubuntu 22.04 and RHEL 9 have this or a newer one.
goal=2.34
# From here on headers turn strtol into __isoc23_strtol, which is as new.
renamed=2.38

fail() {
	echo "portable.sh: $*" >&2
	exit 1
}

# older A B: A is a version before B.
older() {
	[ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

# Whether the archives of $BUILD are taken over.
share_rooms() {
	local room

	[ "${AUTOFIT_NIGHTLY:-}" != 1 ] || return 1
	for room in base search estimator configs probes launcher; do
		cmp -s {"$BUILD","$BUILD/portable"}/CMakeFiles/$room.dir/flags.make ||
			return 1
		ln -sf "$BUILD/lib$room.a" "$BUILD/portable/" || return 1
	done
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$SOURCE"
cmake --preset portable -B "$BUILD/portable" -DAUTOFIT_WERROR=ON \
	-DBUILD_TESTING=OFF >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
target=autofit
if share_rooms; then
	target=autofit/fast
fi
cmake --build "$BUILD/portable" -j 2 --target $target >"$scratch/log" 2>&1 ||
	fail "$(tail -n 40 "$scratch/log")"
program=$BUILD/portable/autofit

# "libm.so.6 => /lib/... (0x...)", "/lib64/ld-linux-x86-64.so.2 (0x...)"
libraries=$(ldd "$program" | awk '{ sub(/.*\//, "", $1); print $1 }')
others=$(grep -vE '^(linux-vdso|linux-gate|ld-linux[^.]*|lib(c|m|dl|rt|pthread))\.so\.[0-9]+$' \
	<<<"$libraries" || true)
[ -z "$others" ] || fail "not only glibc is dynamic:"$'\n'"$others"
grep -q '^libc\.so' <<<"$libraries" || fail "glibc is not dynamic"

# Lines "version symbol" of what the program wants from glibc.
objdump -T "$program" |
	sed -nE 's/.*\(?GLIBC_([0-9.]+)\)? +([A-Za-z_0-9]+)$/\1 \2/p' |
	sort -V >"$scratch/symbols"
[ -s "$scratch/symbols" ] || fail "objdump shows no symbol of glibc"
newest=$(tail -n 1 "$scratch/symbols" | cut -d' ' -f1)
echo "needs glibc $newest; built with $(getconf GNU_LIBC_VERSION)"
if older "$goal" "$newest"; then
	awk -v goal="$goal" '{ split($1, a, "."); split(goal, b, ".") }
		a[1] * 1000 + a[2] > b[1] * 1000 + b[2] { print "  " $2, $1 }' \
		"$scratch/symbols"
	here=$(getconf GNU_LIBC_VERSION)
	older "${here#glibc }" "$renamed" &&
		fail "needs more than glibc $goal, for what stands above"
	echo "a build on a machine with glibc before $renamed runs from $goal on"
fi

mkdir "$scratch/alone"
cp "$program" "$scratch/alone/"
env -i HOME="$scratch" "$scratch/alone/autofit" --version >/dev/null ||
	fail "does not start"
