#!/usr/bin/env bash
# What autofit adds before it becomes the command, when the answer is recorded.
# SPDX-License-Identifier: MIT
#
# exec_overhead.sh [RUNS]: ms from start to end of `trainer --steps 1`, bare and
# behind autofit, with hyperfine if it is there, else in turns. AUTOFIT and
# TRAINER name the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${AUTOFIT:=$PWD/build/release/autofit}" "${TRAINER:=$PWD/build/release/trainer}"
runs=${1:-300}

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export AUTOFIT_HOME=$home
bare=("$TRAINER" --batch-size 8 --grad-accum 16 --steps 1 --fixed-mib 1
	--per-sample-kib 4)
# The answer is to be the sizes of the bare command: the same work in both.
behind=("$AUTOFIT" --device host --memory 1GiB --max-micro 8 -q -- "${bare[@]}")
"${behind[@]}" >/dev/null

if command -v hyperfine >/dev/null; then
	hyperfine -N --style none --warmup 10 --runs "$runs" --export-json \
		"$home/times.json" "${bare[*]}" "${behind[*]}" >/dev/null 2>&1
else
	python3 - "$home/times.json" "$runs" "${#bare[@]}" "${bare[@]}" \
		"${behind[@]}" <<'END'
import json, subprocess, sys, time

path, runs, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
commands = [sys.argv[4:4 + count], sys.argv[4 + count:]]
times = [[], []]
for run in range(-10, runs):
    for command, list_of_it in zip(commands, times):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        if run >= 0:
            list_of_it.append(time.perf_counter() - begun)
with open(path, "w", encoding="utf-8") as file:
    json.dump({"results": [{"times": each} for each in times]}, file)
END
fi
python3 - "$home/times.json" <<'END'
import json, statistics, sys

with open(sys.argv[1], encoding="utf-8") as file:
    bare, behind = (sorted(one["times"]) for one in json.load(file)["results"])
for name, times in (("bare", bare), ("behind autofit", behind)):
    print("%-15s min %.2f  median %.2f  max %.2f ms  (%d runs)" % (
        name, 1e3 * times[0], 1e3 * statistics.median(times),
        1e3 * times[-1], len(times)))
print("added           min %.2f  median %.2f ms" % (
    1e3 * (behind[0] - bare[0]),
    1e3 * (statistics.median(behind) - statistics.median(bare))))
END
