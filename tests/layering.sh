#!/bin/bash
# Which file may use which library, and that each header stands alone. Who may
# use whom among the rooms: rooms.py.
# SPDX-License-Identifier: MIT
set -euo pipefail
: "${SOURCE:?the source folder}"

rooms=(base search estimator configs probes launcher)
# A library belongs to the files whose path matches.
declare -A owners=(
	[uv.h]='^(probes/|launcher/tuning/session[^/]*$)'
	[ini.h]='^configs/files/ini\.c$'
	[yaml.h]='^configs/settings/settings_yaml\.c$'
	[dlfcn.h]='^probes/(observers|phantom|preload)/'
)
fail() {
	echo "layering.sh: $*" >&2
	exit 1
}

# All C files of the rooms below the current folder.
files() {
	local room

	for room in "${rooms[@]}"; do
		[ ! -d "$room" ] || find "$room" -name "*.$1" -print
	done | sort
}

includes() {
	sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$1"
}

check_includes() {
	local file included

	while read -r file; do
		while read -r included; do
			if [[ -v owners[$included] ]] &&
				[[ ! $file =~ ${owners[$included]} ]]; then
				echo "$file: $included belongs to ${owners[$included]}"
			fi
		done < <(includes "$file")
	done < <(files '[ch]')
}

check_own_header() {
	local file own first

	while read -r file; do
		own=${file%.c}.h
		[ -e "$own" ] || continue
		read -r first < <(includes "$file") || true
		[ "$first" = "$own" ] || echo "$file: its own header is not first"
	done < <(files c)
}

check_headers_compile() {
	local file

	while read -r file; do
		# shellcheck disable=SC2046 # flags are several words
		${CC:-cc} -std=c17 -D_GNU_SOURCE -I. -fsyntax-only -x c \
			$(pkg-config --cflags libuv inih jansson libpcre2-8 yaml-0.1) \
			"$file" 2>/dev/null || echo "$file: does not compile alone"
	done < <(files h)
}

violations() {
	check_includes
	check_own_header
	check_headers_compile
}

# A check that finds nothing must be known to find something.
check_itself() {
	mkdir -p base search launcher probes/observers
	echo 'typedef int fine;' >search/first.h
	echo 'unknown_type never;' >search/alone.h
	printf '#include <stddef.h>\n#include "search/first.h"\n' >search/first.c
	printf ' # include <uv.h>\n#include "search/first.h"\n' >launcher/main.c
	printf '#include <dlfcn.h>\n' | tee launcher/load.c >probes/observers/a.c
	[ "$(violations)" = "launcher/load.c: dlfcn.h belongs to ${owners[dlfcn.h]}
launcher/main.c: uv.h belongs to ${owners[uv.h]}
search/first.c: its own header is not first
search/alone.h: does not compile alone" ] || fail "blind: $(violations)"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
check_itself
cd "$SOURCE"
found=$(violations)
[ -z "$found" ] || fail $'\n'"$found"
