#!/usr/bin/env bash
# Poor surroundings and odd moments: a clear end, and nothing wrong recorded.
# SPDX-License-Identifier: MIT

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

OPTIONS=(-q --device host --memory 250M --confirm-steps 3)
COMMAND=("$TRAINER" --batch-size 8 --grad-accum 4 --steps 12
	--fixed-mib 20 --per-sample-kib 2048)

records() {
	find "$AUTOFIT_HOME/records" -name '*.ini' 2>/dev/null | wc -l
}

# A headroom as large as the budget is no absence of a limit.
run "$AUTOFIT" -q --device host --memory 50M -- "${COMMAND[@]}"
is 'a budget below the headroom' "$status" 125
like 'a budget below the headroom: says so' "$err" 'leaves nothing'
is 'a budget below the headroom: no record' "$(records)" 0

# No effective batch is changed unasked: `tune` ends as a launch does.
LARGE=("$TRAINER" --batch-size 64 --steps 6 --fixed-mib 20
	--per-sample-kib 4096)
run "$AUTOFIT" tune --largest "${OPTIONS[@]}" -- "${LARGE[@]}"
is 'tune without accumulation' "$status" 120
is 'tune without accumulation: not recorded' "$(records)" 0
run "$AUTOFIT" "${OPTIONS[@]}" -- "${LARGE[@]}"
is 'a launch without accumulation' "$status" 120
unlike 'a launch without accumulation: not run' "$out" '^step'

# Settings that look like counters of steps.
cat >wrapper <<'END'
#!/bin/sh
echo 'iter 0'
echo 'batch: 128'
exec "$TRAINER" "$@"
END
chmod +x wrapper
export TRAINER
run "$AUTOFIT" tune --largest -q --device host --memory 600M --confirm-steps 3 \
	--json counted.json -- ./wrapper --batch-size 8 --steps 30 \
	--fixed-mib 20 --per-sample-kib 4096 --step-ms 10
is 'settings are no steps' "$(json_value counted.json outcome)" tuned
check 'settings are no steps: what cannot fit does not' test \
	"$(sed -nE 's/.*"largest_micro_batch": ([0-9]+).*/\1/p' \
		counted.json | head -1)" -le 140

# One probe a time comes to the same end.
for turn in 1 2 3 4 5 6 7 8; do
	run "$AUTOFIT" tune --largest "${OPTIONS[@]}" --max-probes 1 -- "${COMMAND[@]}"
	[ "$status" -eq 124 ] || break
done
is '--max-probes again and again gets there' "$status" 0
check '--max-probes again and again: not at once' test "$turn" -ge 2

# What fitted when the time was up is used, though it was still confirmed.
cat >patient <<'END'
#!/bin/sh
[ "$AUTOFIT_PROBE" ] && exec "$TRAINER" --steps 100000 --step-ms 10 \
	--fixed-mib 20 --per-sample-kib 1024 "$@"
echo "started with $*"
END
chmod +x patient
run "$AUTOFIT" "${OPTIONS[@]}" --confirm-steps 100000 --time-limit 2s -- \
	./patient --batch-size 8
is 'time is up while confirming: the command ran' "$status" 0
like 'time is up while confirming: the size' "$out" \
	'^started with --batch-size 8$'
is 'time is up while confirming: no record' \
	"$(find "$AUTOFIT_HOME/records" -name 'patient*' | wc -l)" 0

# A file that a run writes itself is no part of what its record is for.
cat >writer <<'END'
#!/bin/sh
[ "$1" = --out ] && out=$2 && shift 2
"$TRAINER" "$@" && date +%N >"$out"
END
chmod +x writer
for turn in 1 2; do
	run "$AUTOFIT" "${OPTIONS[@]}" --json "written$turn.json" -- \
		./writer --out weights.pt "${COMMAND[@]:1}"
done
is 'a run writes its weights: tuned' \
	"$(json_value written1.json outcome)" tuned
is 'a run writes its weights: reused' \
	"$(json_value written2.json outcome)" reused

# What goes to the background was not seen to fit.
cat >daemon <<'END'
#!/bin/sh
"$TRAINER" --steps 100000 --step-ms 10 "$@" >/dev/null 2>&1 &
END
chmod +x daemon
run "$AUTOFIT" "${OPTIONS[@]}" -- ./daemon --batch-size 8
is 'a training in the background' "$status" 121
like 'a training in the background: says so' "$(tr -s '\n ' '  ' <<<"$err")" \
	'in the foreground'

# A probe that cannot be started any more says nothing of its size.
mkdir gone
cat >gone/program <<'END'
#!/bin/sh
[ "$AUTOFIT_MICRO" != 2 ] && rm "$0"
exec "$TRAINER" "$@"
END
chmod +x gone/program
run "$AUTOFIT" --device host --memory 250M --json gone.json --allow-writes gone -- \
	gone/program --batch-size 2 --grad-accum 8 "${COMMAND[@]:5}"
is 'the program is gone' "$status" 127
like 'the program is gone: says so' "$err" 'cannot run .*No such file'
unlike 'the program is gone: no size is to blame' "$err$(cat gone.json)" \
	'too.big'

# Few descriptors: an end and not a hang, and stdin is still there.
for number in 8 12 16 20 24 28 30 31 32 34; do
	(
		ulimit -n "$number"
		rm -rf "$AUTOFIT_HOME"
		exec timeout "$PATIENCE" "$AUTOFIT" "${OPTIONS[@]}" -- "${COMMAND[@]}"
	) </dev/null >few.out 2>few.err
	code=$?
	case $code in
	0 | 125 | 126) ok "$number descriptors" ;;
	*) not_ok "$number descriptors" "exit $code: $(cat few.err)" ;;
	esac
	is "$number descriptors: nothing is left" \
		"$(find "$AUTOFIT_HOME/scratch" -mindepth 1 2>/dev/null)" ''
done

# Where /dev/null is missing, that is said, and not that a limit is low.
if unshare -rm true 2>/dev/null; then
	rm -rf "$AUTOFIT_HOME"
	# shellcheck disable=SC2016
	run unshare -rm sh -c 'mount -t tmpfs none /dev && exec "$@"' - \
		"$AUTOFIT" "${OPTIONS[@]}" -- "${COMMAND[@]}"
	is 'no /dev/null' "$status" 123
	like 'no /dev/null: says so' "$err" '/dev/null: No such file'
fi

# A small stack.
for kib in 256 192 128; do
	(
		ulimit -s "$kib"
		rm -rf "$AUTOFIT_HOME"
		exec timeout "$PATIENCE" "$AUTOFIT" "${OPTIONS[@]}" -- "${COMMAND[@]}"
	) </dev/null >few.out 2>few.err
	is "a stack of $kib KiB" "$?" 0
done

# Folders that cannot be written, none at all, a relative one.
rm -rf "$AUTOFIT_HOME"
mkdir -p "$AUTOFIT_HOME/logs"
rm -r "$AUTOFIT_HOME/logs" && touch "$AUTOFIT_HOME/logs"
run "$AUTOFIT" "${OPTIONS[@]}" -- "${COMMAND[@]}"
is 'no folder for logs' "$status" 125
like 'no folder for logs: says so' "$err" '^autofit: '
run env -u HOME -u AUTOFIT_HOME "$AUTOFIT" "${OPTIONS[@]}" -- "${COMMAND[@]}"
is 'no HOME' "$status" 125
like 'no HOME: says so' "$err" 'HOME'

# Below its own size: any other shows that sizes take effect, and no larger one
# is advised.
rm -rf "$AUTOFIT_HOME"
run "$AUTOFIT" tune "${OPTIONS[@]}" --max-micro 3 --json small.json \
	-- "$TRAINER" --batch-size 8 --grad-accum 4 --steps 12 \
	--per-sample-kib 8192
is 'a small --max-micro' "$status" 0
is 'a small --max-micro: nothing larger is advised' \
	"$(json_value small.json nearest_effective_batch)" null

# What cannot be recorded fails where a record is all that is asked for.
rm -rf "$AUTOFIT_HOME"
mkdir "$AUTOFIT_HOME" && touch "$AUTOFIT_HOME/records"
run "$AUTOFIT" tune "${OPTIONS[@]}" --json unrecorded.json -- "${COMMAND[@]}"
is 'tune, no folder for records' "$status" 125
like 'tune, no folder for records: says so, though quiet' "$err" \
	'^autofit: error: the answer is not recorded: '
is 'tune, no folder for records: the sizes are told' \
	"$(json_value unrecorded.json outcome)" tuned
like 'tune, no folder for records: and why it failed' \
	"$(json_value unrecorded.json message)" 'is not recorded'
run "$AUTOFIT" "${OPTIONS[@]}" -- "${COMMAND[@]}"
is 'a launch, no folder for records' "$status" 0
rm "$AUTOFIT_HOME/records"

# Names with bytes that a terminal would act on.
run "$AUTOFIT" show "$(printf 'no\033[31mx')"
unlike 'an escape in a message' "$err" "$(printf '\033')"
name=$(printf 'train\033[31m.py')
echo 'parser.add_argument("--batch-size", type=int, default=4)' >"$name"
run "$AUTOFIT" explain --device host -- python3 "$name" --batch-size 4
unlike 'an escape in an explanation' "$out" "$(printf '\033')"

# Files that are data: said of those that may hold the batch size.
echo 'yaml.safe_load(open(sys.argv[1]))' >train.py
{
	echo 'batch_size: 4'
	seq 15000 | sed 's/.*/key_&: &/'
} >data.yaml
run "$AUTOFIT" explain --device host -- python3 train.py data.yaml
is 'a config that is data' "$status" 122
like 'a config that is data: says so' "$err" \
	'data\.yaml, which may set it, is not understood: .*larger than a config'
{
	printf 'batch_size: 4\nvalues:\n'
	seq 6200 | sed 's/.*/- 1/'
} >values.yaml
run "$AUTOFIT" explain --device host -- python3 train.py values.yaml
is 'too many values' "$status" 122
like 'too many values: says so' "$err" \
	'values\.yaml, which may set it, is not understood: .*too many values'
run "$AUTOFIT" explain --device host -- \
	python3 train.py values.yaml --batch-size 4
is 'data beside a batch size' "$status" 0

# A signal ends a wait: TERM while the lock of the host is another's.
if [ -x "${BUILD:-}/sim/sim_trainer" ]; then
	rm -rf "$AUTOFIT_HOME"
	mkdir -p "$AUTOFIT_HOME/locks"
	chmod 700 "$AUTOFIT_HOME" "$AUTOFIT_HOME/locks"
	flock "$AUTOFIT_HOME/locks/host-$(hostname).lock" sleep 60 &
	holder=$!
	LD_LIBRARY_PATH=$BUILD/sim AUTOFIT_SIM_DEVICES='Sim:24G:500M' \
		AUTOFIT_SIM_STATE=$TMP/sim \
		"$AUTOFIT" tune --largest -- "${COMMAND[@]}" 2>wait.err &
	waiter=$!
	check 'waits for the lock of the host' \
		wait_for grep -q \
		'waiting for another process, which is tuning on host-' wait.err
	kill -TERM "$waiter"
	check 'a signal ends the wait' wait_for gone "$waiter"
	kill -KILL "$waiter" 2>/dev/null
	wait "$waiter" 2>/dev/null
	is 'a signal ends the wait: by that signal' "$?" 143
	descendants "$holder" | xargs kill "$holder" 2>/dev/null
else
	ok 'waits for the lock of the host # skipped: no simulated GPU'
fi

finish
