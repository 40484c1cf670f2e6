#!/usr/bin/env bash
# Sizes in variables that have a default, and options that are handed on.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")"

BS=${BS:-4}
ACCUM=${ACCUM:-4}

exec python3 argparse_flags.py --batch-size "$BS" --grad-accum "$ACCUM" "$@"
