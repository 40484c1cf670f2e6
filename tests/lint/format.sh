#!/usr/bin/env bash
# Every C file is as clang-format writes it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

badly_formatted() {
	xargs -0 clang-format --style=file:"$SOURCE/.clang-format" \
		--dry-run -Werror 2>&1
}

# A check that finds nothing must be known to find something.
printf 'int  a ;\n' >"$scratch/planted.c"
if printf '%s\0' "$scratch/planted.c" | badly_formatted >/dev/null; then
	fail "blind to a planted mistake"
fi
files_named '*.[ch]' | badly_formatted ||
	fail "run clang-format -i on what is named above"
