#!/usr/bin/env bash
# run.sh NAME: libFuzzer looks for input that breaks the reader of fuzz_NAME.c.
# run.sh     : builds the readers for it, in $BUILD/fuzz.
# SPDX-License-Identifier: MIT
#
# What is found is kept, and printed as base64. Inputs that reach new code are
# kept too, in $BUILD/fuzz/grown/NAME: the next run begins with them, and
#   $BUILD/fuzz/tests/fuzz/NAME -merge=1 tests/fuzz/corpus/NAME \
#       $BUILD/fuzz/grown/NAME
# takes those that the corpus lacks over into it.
set -euo pipefail
: "${SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${BUILD:=$SOURCE/build/release}"
tree=$BUILD/fuzz
# Asked for by a night, or by somebody at work on a reader. A change is judged
# by the corpus, which every tree reads; new ground is for the night.
wanted=${AUTOFIT_NIGHTLY:-}${AUTOFIT_FUZZ_SECONDS:-}
# 0: another one each time.
: "${AUTOFIT_FUZZ_SEED:=0}" "${AUTOFIT_FUZZ_SECONDS:=60}"
# So many there are, however long a busy machine takes for them.
RUNS_MIN=1000

fail() {
	echo "run.sh: $*" >&2
	exit 1
}

skip() {
	echo "left out: $*"
	exit 77
}

[ -n "$wanted" ] || skip "AUTOFIT_NIGHTLY=1 or AUTOFIT_FUZZ_SECONDS=60 looks" \
	"for new inputs; those of the corpus are read by the unit tests"

# Also the proof that what is planted is found: else all others prove nothing.
find_planted() { # SCRATCH
	cat >"$1/planted.c" <<-'END'
		#include <stddef.h>
		#include <stdint.h>
		#include <stdlib.h>
		int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
		int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
		{
			char *two = malloc(2);
			int third = size > 1 && data[0] == 'h' ? two[size] : 0;
			free(two);
			return third & 0;
		}
	END
	clang -g -fsanitize=fuzzer,address,undefined -o "$1/planted" \
		"$1/planted.c" 2>"$1/log" ||
		skip "no libFuzzer for clang here: $(tail -n 1 "$1/log")"
	if (cd "$1" && timeout 120 ./planted -runs=1000000 >log 2>&1); then
		fail "libFuzzer is blind to a planted mistake"
	fi
	grep -q 'heap-buffer-overflow' "$1/log" ||
		fail "the planted mistake is another: $(cat "$1/log")"
}

build() {
	local scratch

	command -v clang >/dev/null || skip "no clang"
	scratch=$(mktemp -d)
	# shellcheck disable=SC2064 # the name as it is now
	trap "rm -rf '$scratch'" EXIT
	find_planted "$scratch"
	cmake -S "$SOURCE" -B "$tree" -DCMAKE_C_COMPILER=clang \
		-DCMAKE_BUILD_TYPE=Debug \
		-DCMAKE_C_FLAGS_DEBUG="-O1 -gline-tables-only" \
		-DAUTOFIT_SANITIZE=ON -DAUTOFIT_FUZZ=ON >"$scratch/log" 2>&1 ||
		fail "$(cat "$scratch/log")"
	cmake --build "$tree" --target fuzz -j "$(nproc)" \
		>"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
}

number_after() { # TEXT: in the log
	sed -nE "s/.*$1 *([0-9]+).*/\1/p" "$log" | head -n 1
}

# It ran, it met the rooms' code, and it began with the corpus.
check_run() {
	local runs counters files

	runs=$(number_after 'number_of_executed_units:')
	counters=$(number_after 'Loaded [0-9]+ modules +\(')
	files=$(number_after 'INFO: seed corpus: files:')
	[ "${runs:-0}" -ge "$RUNS_MIN" ] || fail "only ${runs:-no} runs"
	[ "${counters:-0}" -ge 1000 ] || fail "it saw nothing of autofit's code"
	[ "${files:-0}" -gt 0 ] || fail "it saw no corpus"
	grep -E 'INFO: Seed|seed corpus|^stat::|DONE' "$log"
}

tell_found() {
	local file

	grep -vE '^#[0-9]+[[:space:]]' "$log" || true
	for file in "$found"/*; do
		[ -e "$file" ] || continue
		echo "found: $program $file"
		echo "base64: $(base64 -w 0 "$file")"
	done
}

fuzz() { # NAME
	local name=$1 words=() runs
	program=$tree/tests/fuzz/$name
	found=$tree/found/$name
	log=$tree/$name.log
	[ -x "$program" ] || skip "no $program"
	[ ! -e "$SOURCE/tests/fuzz/$name.dict" ] ||
		words=(-dict="$SOURCE/tests/fuzz/$name.dict")
	mkdir -p "$found" "$tree/grown/$name"
	rm -f "$found"/*
	look_for -max_total_time="$AUTOFIT_FUZZ_SECONDS"
	runs=$(number_after 'number_of_executed_units:')
	[ "${runs:-0}" -ge "$RUNS_MIN" ] || look_for -runs="$RUNS_MIN"
	check_run
}

# A sanitizer looks for leaks after each run; input that takes 5 s, or 1 GiB, is
# an error as well.
look_for() { # LIBFUZZER-OPTION...: with the names of fuzz()
	timeout $((AUTOFIT_FUZZ_SECONDS + 300)) "$program" "$@" -timeout=5 \
		-seed="$AUTOFIT_FUZZ_SEED" \
		-rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
		-artifact_prefix="$found/" "${words[@]}" \
		"$tree/grown/$name" "$SOURCE/tests/fuzz/corpus/$name" \
		>"$log" 2>&1 || {
		tell_found
		fail "$name: see above"
	}
}

if [ $# -eq 0 ]; then
	build
else
	fuzz "$@"
fi
