#!/usr/bin/env bash
# The second compiler has no warning for any file either.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 TIMEOUT 900
. "$(dirname "$0")/lib.sh"

cmake -S "$SOURCE" -B "$scratch/build" -DCMAKE_C_COMPILER=clang \
	-DCMAKE_BUILD_TYPE=Debug -DAUTOFIT_WERROR=ON >"$scratch/log" 2>&1 ||
	fail "$(cat "$scratch/log")"
cmake --build "$scratch/build" -j 2 -- -k >"$scratch/log" 2>&1 ||
	fail "$(grep -vE '^\[|^(g?make)' "$scratch/log")"
