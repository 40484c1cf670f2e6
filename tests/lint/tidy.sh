#!/usr/bin/env bash
# clang-tidy finds nothing in any C file, and says nothing; nor has clang, the
# second compiler, any warning.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 COST 200
. "$(dirname "$0")/lib.sh"
: "${BUILD:?the build folder}"

# The analyzer goes through so many states of a function; at night through
# as many as is its own default, which takes twenty times as long, and through
# the tests as well.
states=5000
of_tests=(--checks=-clang-analyzer-*)
if [ "${AUTOFIT_NIGHTLY:-}" = 1 ]; then
	states=225000
	of_tests=()
fi

# Without optimisation, and with assertions: else macros of <ctype.h> count as
# nesting, and the analyzer does not hear what is asserted.
check() { # FOLDER OPTION...
	local folder=$1

	shift
	xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$folder" --quiet "$@" \
		--config-file="$SOURCE/.clang-tidy" \
		--extra-arg=-Wno-unknown-warning-option \
		--extra-arg=-O0 --extra-arg=-UNDEBUG \
		--extra-arg=-Xclang --extra-arg=-analyzer-config \
		--extra-arg=-Xclang --extra-arg="max-nodes=$states" 2>"$scratch/talk"
}

# planted NAME CHECK LINE: a function of that name, with that line, is found.
planted() {
	printf 'int %s(int a);\nint %s(int a)\n{\n\t%s\n\treturn a;\n}\n' \
		"$1" "$1" "$3" >"$scratch/planted.c"
	printf '%s\0' "$scratch/planted.c" | check "$scratch" \
		>"$scratch/found" || true
	grep -q "$2" "$scratch/found" || fail "blind to a planted mistake: $2"
}
printf '[{"directory": "%s", "file": "planted.c", "command": "cc -Wall -c planted.c"}]' \
	"$scratch" >"$scratch/compile_commands.json"
planted BadName readability-identifier-naming ''
planted good_name clang-diagnostic-unused-variable 'int unused;'

files_named '*.c' >"$scratch/files"
# Once each, of those that several libraries are made of.
mkdir "$scratch/once"
python3 - "$BUILD/compile_commands.json" "$scratch/once" <<'END'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    once = {each["file"]: each for each in reversed(json.load(file))}
with open(sys.argv[2] + "/compile_commands.json", "w", encoding="utf-8") as file:
    json.dump(list(once.values()), file)
END
while IFS= read -r -d '' file; do
	grep -qF "\"file\": \"$file\"" "$BUILD/compile_commands.json" ||
		fail "$file is in no target of $BUILD"
done <"$scratch/files"
if ! grep -z -v "^$SOURCE/tests/" "$scratch/files" |
	check "$scratch/once" >"$scratch/found" ||
	! grep -z "^$SOURCE/tests/" "$scratch/files" |
	check "$scratch/once" "${of_tests[@]}" >>"$scratch/found" ||
	[ -s "$scratch/found" ]; then
	grep -v ' warnings generated\.$' "$scratch/talk" >&2 || true
	fail "$(cat "$scratch/found")"
fi
