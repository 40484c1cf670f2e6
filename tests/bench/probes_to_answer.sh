#!/usr/bin/env bash
# Probes and seconds to the answer on the PyTorch example, by strategy.
# SPDX-License-Identifier: MIT
#
# probes_to_answer.sh [RUNS]: for both modes and two budgets, the answer and the
# median of RUNS (default 3) tunings from nothing. AUTOFIT names the program,
# PYTHON an interpreter with torch.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${AUTOFIT:=$PWD/build/release/autofit}"
runs=${1:-3}
if [ -z "${PYTHON-}" ]; then
	for PYTHON in python3 /usr/bin/python3; do
		"$PYTHON" -c 'import torch' 2>/dev/null && break
	done
fi

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export AUTOFIT_HOME=$home
command=("$PYTHON" examples/charlm/train.py --batch-size 8 --grad-accum 16
	--steps 1 --device cpu)

tune() { # MODE MEMORY STRATEGY FILE
	local mode=()
	[ "$1" = launch ] || mode=("$1" --largest)
	"$AUTOFIT" "${mode[@]}" --fresh -q --device host --memory "$2" \
		--strategy "$3" --json "$4" -- "${command[@]}" >/dev/null
}

for mode in launch tune; do
	for memory in 1GiB 2GiB; do
		for strategy in guided bisect; do
			for ((run = 0; run < runs; run++)); do
				tune "$mode" "$memory" "$strategy" \
					"$home/$mode $memory $strategy $run"
			done
		done
	done
done
python3 - "$home" <<'END'
import collections, glob, json, os, statistics, sys

cases = collections.defaultdict(list)
for path in sorted(glob.glob(os.path.join(glob.escape(sys.argv[1]), "* *"))):
    with open(path, encoding="utf-8") as file:
        cases[os.path.basename(path).rsplit(" ", 1)[0]].append(json.load(file))
print("mode   budget strategy  probes  seconds  answer (largest)")
for name, results in cases.items():
    answers = sorted({"%d x %d (%s)" % (
        one["recommended"]["micro_batch"], one["recommended"]["grad_accum"],
        one["largest_micro_batch"] or "-") for one in results})
    print("%-6s %-6s %-8s %7g %8.1f  %s" % (
        *name.split(), statistics.median(one["probe_count"] for one in results),
        statistics.median(one["seconds"] for one in results),
        ", ".join(answers)))
END
