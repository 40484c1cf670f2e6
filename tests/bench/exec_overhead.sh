#!/usr/bin/env bash
# What autofit adds before it becomes the command, when the answer is recorded.
# SPDX-License-Identifier: MIT
#
# exec_overhead.sh [RUNS]: from start to end of `trainer --steps 1`, bare, behind
# env, behind autofit, and behind the autofit of a user who has no record and
# takes the one that a night has published ("site"), in turns: wall and CPU time.
# AUTOFIT and TRAINER name the programs. Fails where the published record took
# 10 ms and more, or a probe.
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
options=(--device host --memory 1GiB --max-micro 8)
behind=("$AUTOFIT" "${options[@]}" -q -- "${bare[@]}")
"${behind[@]}" >/dev/null
cat >"$home/jobs.ini" <<END
[nightly]
publish = site
[job a]
device = host
memory = 1GiB
max-micro = 8
directory = $PWD
command = ${bare[*]}
END
"$AUTOFIT" nightly --quiet "$home/jobs.ini"
AUTOFIT_HOME=$home/user AUTOFIT_SITE=$home/site "$AUTOFIT" "${options[@]}" \
	--no-probe -- "${bare[@]}" 2>&1 >/dev/null | grep -q 'no probe;' || {
	echo 'the published record is not used' >&2
	exit 1
}
export SITE=$home

python3 - "$runs" "${#bare[@]}" "${bare[@]}" "${behind[@]}" <<'END'
import os, statistics, sys, time

runs, count = int(sys.argv[1]), int(sys.argv[2])
bare, behind = sys.argv[3:3 + count], sys.argv[3 + count:]
cases = {"bare": bare, "env": ["/usr/bin/env", *bare], "autofit": behind,
         "site": behind}
home = os.environ.pop("SITE")
of_a_user = dict(os.environ, AUTOFIT_HOME=home + "/user",
                 AUTOFIT_SITE=home + "/site")
null = os.open("/dev/null", os.O_RDWR)
files = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
wall, cpu = ({name: [] for name in cases} for _ in range(2))
for run in range(-10, runs):
    for name, argv in cases.items():
        begun = time.perf_counter()
        pid = os.posix_spawn(
            argv[0], argv, of_a_user if name == "site" else os.environ,
            file_actions=files)
        _, status, usage = os.wait4(pid, 0)
        took = time.perf_counter() - begun
        if status:
            sys.exit("%s ended with %d" % (name, status))
        if run >= 0:
            wall[name].append(1e3 * took)
            cpu[name].append(1e3 * (usage.ru_utime + usage.ru_stime))
for name in cases:
    print("%-8s wall min %.2f  median %.2f   CPU min %.2f  median %.2f ms" % (
        name, min(wall[name]), statistics.median(wall[name]),
        min(cpu[name]), statistics.median(cpu[name])))
median = {name: statistics.median(times) for name, times in wall.items()}
print("autofit   %.2fx env, CPU of its own %.2f ms  (%d runs)" % (
    median["autofit"] / median["env"],
    statistics.median(cpu["autofit"]) - statistics.median(cpu["bare"]), runs))
more = median["site"] - median["bare"]
print("a published record: %.2f ms more than the bare command" % more)
sys.exit(more >= 10)
END
