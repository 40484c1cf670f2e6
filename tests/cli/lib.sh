# What the black-box tests share: checks, a folder, bounded waiting.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A test begins with
#
#     . "$(dirname "$0")/lib.sh"
#
# and ends with `finish`. It finds AUTOFIT, TRAINER and HELPERS (programs and
# the folder of the helper programs), works in $TMP, which goes away at the
# end with whatever was started in the background, and has a private
# AUTOFIT_HOME below it. Settings of the user who runs it play no part.
#
# Checks print one line "ok - NAME" or "not ok - NAME" and never end a test.

set -u

: "${AUTOFIT:?the program under test}" "${TRAINER:?the example trainer}"
: "${HELPERS:?the folder of the helper programs}"

for name in $(compgen -e | grep '^AUTOFIT_'); do
	unset "$name"
done
unset name CI NO_COLOR XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME
unset SLURM_JOB_ID SLURM_STEP_NUM_TASKS OMPI_COMM_WORLD_SIZE
export LC_ALL=C
# Seconds after which something hangs: far above what anything takes, on a
# machine that is busy with much else too.
PATIENCE=600

TMP=$(mktemp -d "${TMPDIR:-/tmp}/autofit-cli-XXXXXX") || exit 99
# As the kernel names it, so that paths can be compared.
TMP=$(cd "$TMP" && pwd -P) || exit 99
export AUTOFIT_HOME=$TMP/home HOME=$TMP/user
mkdir "$HOME" && cd "$TMP" || exit 99

checks=0
failures=0

# Ends what the test still runs, by the process ids it knows, and cleans up.
lib_clean() {
	local pid

	for pid in $(jobs -p); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
	cd / && chmod -R u+rwX "$TMP" && rm -rf "$TMP"
} 2>/dev/null
trap lib_clean EXIT
trap 'exit 99' INT TERM HUP

ok() { # NAME
	checks=$((checks + 1))
	printf 'ok - %s\n' "$1"
}

not_ok() { # NAME [DETAIL]: the detail is shown below it
	checks=$((checks + 1))
	failures=$((failures + 1))
	printf 'not ok - %s\n' "$1"
	if [ -n "${2-}" ]; then
		printf '%s\n' "$2" | sed 's/^/    /'
	fi
}

# check NAME COMMAND...: the command must succeed.
check() {
	local name=$1

	shift
	if "$@"; then
		ok "$name"
	else
		not_ok "$name" "failed: $*"
	fi
}

# is NAME GOT WANTED: equal as texts.
is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:    $2
wanted: $3"
	fi
}

# like NAME TEXT PATTERN, unlike NAME TEXT PATTERN: extended, by line.
like() {
	if grep -qE -e "$3" <<<"$2"; then
		ok "$1"
	else
		not_ok "$1" "no line matches $3 in:
$2"
	fi
}

unlike() {
	if grep -qE -e "$3" <<<"$2"; then
		not_ok "$1" "a line matches $3 in:
$2"
	else
		ok "$1"
	fi
}

# same NAME FILE FILE: byte for byte.
same() {
	if cmp -s "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(diff -U0 "$2" "$3" 2>&1 | head -40)"
	fi
}

# run COMMAND...: afterwards $status, and $out and $err (what it printed).
# shellcheck disable=SC2034 # for the test that reads this file
run() {
	"$@" >"$TMP/.out" 2>"$TMP/.err"
	status=$?
	out=$(cat "$TMP/.out")
	err=$(cat "$TMP/.err")
}

# wait_for COMMAND...: until the command succeeds; 1 when it does not.
wait_for() {
	local end=$((SECONDS + PATIENCE))

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.02
	done 2>/dev/null
}

# gone PID...: none of them runs any more.
gone() {
	local pid

	for pid; do
		case $(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) in
		'' | Z) ;;
		*) return 1 ;;
		esac
	done
}

# descendants PID: all below it, one per line.
descendants() {
	local children pid

	children=$(cat "/proc/$1/task/"*/children 2>/dev/null)
	for pid in $children; do
		echo "$pid"
		descendants "$pid"
	done
}

# json_value FILE NAME: a top-level text or number of a --json result.
json_value() {
	sed -nE 's/^  "'"$2"'": "?([^",]*)"?,?$/\1/p' "$1"
}

skip_all() { # REASON
	printf 'skipped: %s\n' "$1"
	exit 77
}

finish() {
	printf '1..%d\n' "$checks"
	if [ "$failures" -gt 0 ]; then
		printf '%d of %d failed\n' "$failures" "$checks"
		exit 1
	fi
	exit 0
}
