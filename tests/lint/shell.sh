#!/usr/bin/env bash
# No script gives shellcheck anything to say.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

# By the first line, or by the name where a file is only read by others.
scripts() {
	local file line

	while IFS= read -r -d '' file; do
		line=
		IFS= read -r line <"$file" || true
		# Stand-ins are written as their originals are.
		[[ $file == */tests/data/corpus/* ]] && continue
		if [[ $file == *.@(sh|bash) || $line =~ ^#!.*[/\ ](ba)?sh$ ]]; then
			printf '%s\0' "$file"
		fi
	done < <(files_named '*')
}

# SC2317: it does not see functions that are called by name, as tests do.
check() {
	xargs -0 shellcheck -x --exclude=SC2317 --source-path=SCRIPTDIR:"$SOURCE"
}

# shellcheck disable=SC2016 # that is the mistake
printf '#!/bin/sh\necho $1\n' >"$scratch/planted.sh"
if printf '%s\0' "$scratch/planted.sh" | check >/dev/null; then
	fail "blind to a planted mistake"
fi
scripts >"$scratch/scripts"
grep -zq '/scripts/demo$' "$scratch/scripts" ||
	fail "scripts without a suffix are missed"
cd "$SOURCE"
check <"$scratch/scripts"
