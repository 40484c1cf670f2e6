#!/usr/bin/env bash
# What autofit and its keeper hold while a probe runs: the kernel's VmHWM.
# SPDX-License-Identifier: MIT
#
# wrapper_memory.sh [MEGABYTES]: beside a quiet trainer, one with 60 workers, and
# a program that prints so many megabytes (default 500). BUILD names the folder
# where everything was built.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${BUILD:=$PWD/build/release}"
megabytes=${1:-500}

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export AUTOFIT_HOME=$home

peak_kib() { # PID: 0 when it is gone
	local line
	line=$(grep VmHWM: "/proc/$1/status" 2>/dev/null) || line=0
	line=${line//[!0-9]/}
	echo "${line:-0}"
}

measure() { # NAME OPTION... -- COMMAND...
	local name=$1 autofit=0 keeper=0 pid child now children=()
	shift
	"$BUILD/autofit" tune --fresh -q --device host --memory 1GiB \
		--max-micro 8 "$@" 2>/dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		now=$(peak_kib "$pid")
		[ "$now" -gt "$autofit" ] && autofit=$now
		read -ra children 2>/dev/null \
			<"/proc/$pid/task/$pid/children" || true
		for child in "${children[@]}"; do
			now=$(peak_kib "$child")
			[ "$now" -gt "$keeper" ] && keeper=$now
		done
		sleep 0.02
	done
	wait "$pid" || true
	printf '%-28s autofit %5d KiB   keeper %5d KiB\n' "$name" "$autofit" \
		"$keeper"
}

trainer=("$BUILD/trainer" --batch-size 8 --step-ms 50)
measure 'trainer' -- "${trainer[@]}"
measure 'trainer, 60 workers' -- "${trainer[@]}" --workers 60
measure "$megabytes MB of output" --probe-steps 1000000 -- \
	"$BUILD/helpers/flood" --batch-size 8 --flood-mb "$megabytes"
