#!/usr/bin/env bash
# clang-tidy finds nothing in any C file, and says nothing.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 TIMEOUT 1200
. "$(dirname "$0")/lib.sh"
: "${BUILD:?the build folder}"

check() {
	xargs -0 -n 4 -P "$(nproc)" clang-tidy -p "$1" --quiet \
		--config-file="$SOURCE/.clang-tidy" \
		--extra-arg=-Wno-unknown-warning-option 2>"$scratch/talk"
}

printf 'int BadName(int a);\nint BadName(int a)\n{\n\treturn a;\n}\n' \
	>"$scratch/planted.c"
printf '[{"directory": "%s", "file": "planted.c", "command": "cc -c planted.c"}]' \
	"$scratch" >"$scratch/compile_commands.json"
if printf '%s\0' "$scratch/planted.c" | check "$scratch" >/dev/null; then
	fail "blind to a planted mistake"
fi

files_named '*.c' >"$scratch/all"
grep -z '' "$scratch/all" | tr '\0' '\n' >"$scratch/lines"
while read -r file; do
	grep -qF "\"file\": \"$file\"" "$BUILD/compile_commands.json" ||
		fail "$file is in no target of $BUILD"
done <"$scratch/lines"
check "$BUILD" <"$scratch/all" >"$scratch/found" || {
	cat "$scratch/found" "$scratch/talk" >&2
	fail "see above"
}
[ ! -s "$scratch/found" ] || fail "$(cat "$scratch/found")"
