# For the checks of this folder: the files of the project, and how to fail.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

set -euo pipefail
: "${SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# Files of the project by name, separated by NUL; not what a build left, and
# not what somebody keeps beside it.
files_named() {
	find "$SOURCE"/{base,search,estimator,configs,probes,launcher,tests} \
		"$SOURCE"/{docs,examples,scripts,.ci} -type f -name "$1" -print0 |
		sort -z
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
