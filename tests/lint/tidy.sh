#!/usr/bin/env bash
# clang-tidy finds nothing in any C file, and says nothing.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 TIMEOUT 1200
. "$(dirname "$0")/lib.sh"
: "${BUILD:?the build folder}"

# Without optimisation, and with assertions: else macros of <ctype.h> count as
# nesting, and the analyzer does not hear what is asserted.
check() {
	xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$1" --quiet \
		--config-file="$SOURCE/.clang-tidy" \
		--extra-arg=-Wno-unknown-warning-option \
		--extra-arg=-O0 --extra-arg=-UNDEBUG 2>"$scratch/talk"
}

printf 'int BadName(int a);\nint BadName(int a)\n{\n\treturn a;\n}\n' \
	>"$scratch/planted.c"
printf '[{"directory": "%s", "file": "planted.c", "command": "cc -c planted.c"}]' \
	"$scratch" >"$scratch/compile_commands.json"
if printf '%s\0' "$scratch/planted.c" | check "$scratch" >/dev/null; then
	fail "blind to a planted mistake"
fi

files_named '*.c' >"$scratch/files"
while IFS= read -r -d '' file; do
	grep -qF "\"file\": \"$file\"" "$BUILD/compile_commands.json" ||
		fail "$file is in no target of $BUILD"
done <"$scratch/files"
if ! check "$BUILD" <"$scratch/files" >"$scratch/found" ||
	[ -s "$scratch/found" ]; then
	grep -v ' warnings generated\.$' "$scratch/talk" >&2 || true
	fail "$(cat "$scratch/found")"
fi
