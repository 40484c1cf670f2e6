#!/usr/bin/env bash
# A failure is called what it is, and by the right code; what helps is said.
# SPDX-License-Identifier: MIT
# CTEST COST 60 RESOURCE_LOCK standalone
#
# With /usr/bin/python3 and PyTorch also the death of one worker of torchrun.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

OPTIONS=(--device host --memory 600M --headroom 2M --confirm-steps 5)
PROGRAM=(--batch-size 4 --grad-accum 4)
TRAIN=("$TRAINER" --steps 40 --step-ms 10)

# wording TEXT: on one line, so that it does not matter where it was wrapped.
wording() {
	tr -s '\n ' '  ' <<<"$1"
}

# says NAME PATTERN: on stderr, wherever the line ends.
says() {
	like "$1" "$(wording "$err")" "$2"
}

# verdicts: of the probes of the last call, a line each.
verdicts() {
	python3 -c 'import json, sys
for probe in json.load(open(sys.argv[1]))["probes"]:
    print(probe["verdict"])' "$TMP/result" 2>/dev/null || true
}

autofit() { # ARGUMENTS: with --json, behind a sub-command; sets status, err
	local words=("$@")

	rm -f "$TMP/result"
	case $1 in
	tune | explain) words=("$1" --json "$TMP/result" "${@:2}") ;;
	*) words=(--json "$TMP/result" "$@") ;;
	esac
	run "$AUTOFIT" "${words[@]}"
}

recorded() {
	find "$AUTOFIT_HOME/records" -name '*.ini' 2>/dev/null
}

# fails NAME PROBES PATTERN COMMAND...: not for memory, and says so.
fails() {
	local name=$1 probes=$2 pattern=$3

	shift 3
	autofit "${OPTIONS[@]}" -- "$@"
	is "$name" "$status" 121
	is "$name: outcome" "$(json_value "$TMP/result" outcome)" command_failed
	is "$name: verdicts" "$(verdicts)" "${probes:+failed}"
	says "$name: its own error" "$pattern"
	unlike "$name: not called out of memory" "$(wording "$err")" \
		'[Oo]ut of (host |device |GPU )?memory|oom_|OOM|did not fit'
	is "$name: the command was not started" "$out" ''
	is "$name: nothing is recorded" "$(recorded)" ''
}

cat >train.py <<'EOF'
import argparse, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--grad-accum", type=int, default=1)
parser.add_argument("--data")
args = parser.parse_args()
if args.data:
    open(args.data).close()
held = bytearray(b"x") * (args.batch_size << 20)
for step in range(1, 41):
    print("step %d/40 loss 1.0" % step, flush=True)
    time.sleep(0.01)
EOF

# 1. Not for memory: one probe at most.
sed 's/^held/hold = batch_sise\nheld/' train.py >name.py
fails 'a typo' 1 "NameError: name 'batch_sise' is not defined" \
	python3 name.py "${PROGRAM[@]}"
sed 's/^held = /held = = /' train.py >syntax.py
fails 'no syntax' 1 'SyntaxError: invalid syntax' \
	python3 syntax.py "${PROGRAM[@]}"
sed '1s/^/import no_such_module_here\n/' train.py >module.py
fails 'a missing module' 1 \
	"ModuleNotFoundError: No module named 'no_such_module_here'" \
	python3 module.py "${PROGRAM[@]}"
fails 'a missing file' 1 \
	"FileNotFoundError: .*No such file or directory: 'no-data.txt'" \
	python3 train.py "${PROGRAM[@]}" --data no-data.txt
fails 'argparse' 1 'error: unrecognized arguments: --lrn 3' \
	python3 train.py "${PROGRAM[@]}" --lrn 3
says 'argparse: its exit status' 'exit status 2'
fails 'a failure in C' 1 'trainer: failed, as it was told' \
	"${TRAIN[@]}" --batch-size 4 --grad-accum 4 --fail-at-step 2
says 'a failure in C: its exit status' 'exit status 1'
says 'a failure in C: memory is not the cause' 'memory is not the cause'
sed 's/^held/raise SystemExit("cannot allocate Memory")\nheld/' train.py >words.py
fails 'words of memory that are not known' 1 'cannot allocate Memory' \
	python3 words.py "${PROGRAM[@]}"
unlike 'words of memory that are not known: memory is not denied' \
	"$(wording "$err")" 'memory is not the cause'
fails 'no such script' '' 'cannot read no-script.py: No such file' \
	python3 no-script.py "${PROGRAM[@]}"
fails 'a script that is a folder' '' 'cannot read .*user/__main__.py: No such file' \
	python3 "$HOME" "${PROGRAM[@]}"
fails 'a script that leads nowhere' '' 'cannot read dangling.py: ' \
	python3 dangling.py "${PROGRAM[@]}"

# A launcher keeps what its ranks print in files and says no more than this.
cat >ranks.py <<'EOF'
import os, subprocess, sys
args, ranks = sys.argv[1:], []
for rank in "0", "1":
    with open("rank-%s.log" % rank, "w") as log:
        ranks.append(
            subprocess.Popen(
                [sys.executable, "rank.py"] + args,
                stdout=log,
                stderr=log,
                env=dict(os.environ, RANK=rank),
            )
        )
for rank, process in enumerate(ranks):
    if process.wait() == 1:
        sys.exit("Process %d exit with status code 1." % rank)
EOF
sed 's/^held/import logging\nif os.environ["RANK"] == "1":\n    {}["loss"]\nheld/' \
	train.py >rank.py
fails 'a rank that nobody hears' 1 "rank 1: .*rank.py.* KeyError: 'loss'" \
	python3 ranks.py "${PROGRAM[@]}"

# 2. Killed by somebody: no evidence of memory.
sed 's/^held/os.kill(os.getpid(), 9)\nheld/' train.py >killed.py
fails 'killed by itself' 1 'killed by signal 9' \
	python3 killed.py "${PROGRAM[@]}"
sed 's/^held/os.kill(os.getpid(), 11)\nheld/' train.py >crash.py
fails 'a crash' 1 'killed by signal 11 .Segmentation fault' \
	python3 crash.py "${PROGRAM[@]}"

# 3. No program at all; no size of it is looked for.
printf '#!/bin/sh\n' >not-executable
for row in 'no-such-program 127 No such file' './not-executable 126 Permission'; do
	read -r program code reason <<<"$row"
	autofit "${OPTIONS[@]}" -- "$program" "${PROGRAM[@]}"
	is "$program" "$status" "$code"
	says "$program: says why" "cannot run '$program': $reason"
	is "$program: in the result" \
		"$(json_value "$TMP/result" exit_code)" "$code"
done

# 4. Out of memory that the command catches, and ends well: does not fit.
autofit tune --largest "${OPTIONS[@]}" -- "${TRAIN[@]}" --batch-size 8 --grad-accum 2 \
	--per-sample-kib 4096 --limit-mib 60 --oom-text --exit-code 0
is 'caught: done' "$status" 0
is 'caught: 8 does fit' "$(grep -m1 '"micro_batch"' "$TMP/result" | tr -dc 0-9)" 8
is 'caught: the others do not' "$(verdicts | sort -u | xargs)" \
	'fits oom_host'
like 'caught: from 11 on' "$(cat "$TMP/result")" '"smallest_misfit": 11,'
says 'caught: says so' 'out of host memory, caught by the command'
is 'caught: the largest' "$(json_value "$TMP/result" largest_micro_batch)" 10

# 5. Another status than 0 before the steps of the confirmation: no fit.
autofit "${OPTIONS[@]}" -- "${TRAIN[@]}" --batch-size 4 --grad-accum 2 \
	--fail-at-step 5 --exit-code 3
is 'ends badly on the way' "$status" 121
is 'ends badly on the way: verdict' "$(verdicts | tail -n 1)" failed
is 'ends badly on the way: not started' "$out" ''

# 6. Nothing to trade: the effective batch does not fit.
sed '/grad-accum/d; s/args.batch_size << 20/args.batch_size << 24/' train.py \
	>no-accum.py
autofit "${OPTIONS[@]}" -- python3 no-accum.py --batch-size 64
is 'nothing to trade' "$status" 120
is 'nothing to trade: outcome' "$(json_value "$TMP/result" outcome)" \
	nothing_fits
is 'nothing to trade: not started' "$out" ''
is 'nothing to trade: no record' "$(recorded | grep no-accum)" ''
largest=$(json_value "$TMP/result" largest_micro_batch)
[ "$largest" = null ] && largest=$(sed -nE \
	's/^ *"largest_fit": ([0-9]+),?$/\1/p' "$TMP/result")
# 598 MiB less the interpreter's own, 16 each.
is 'nothing to trade: the largest' "$largest" 36
says 'nothing to trade: its way out' \
	"micro(-batch)? $largest .*--effective-batch $largest"
says 'nothing to trade: the other one' '--accum-flag NAME'
autofit "${OPTIONS[@]}" --effective-batch "$largest" -- \
	python3 no-accum.py --batch-size 64
is 'nothing to trade: that way works' "$status" 0
like 'nothing to trade: that way runs' "$out" '^step 40/40'

# 7. Nothing fits at all.
autofit "${OPTIONS[@]}" -- "${TRAIN[@]}" --batch-size 4 --grad-accum 4 \
	--fixed-mib 700
is 'nothing fits' "$status" 120
is 'nothing fits: not started' "$out" ''
check 'nothing fits: probes' test -n "$(verdicts)"
# On a busy machine the hard limit may be quicker than autofit's look.
is 'nothing fits: verdicts' "$(verdicts | grep -vxE 'over_budget|oom_host')" ''
says 'nothing fits: the limit' 'limit 598 MiB = budget 600 MiB \(--memory\)'
says 'nothing fits: ways out' 'a larger --memory, a smaller --headroom'

# 8. No knob is found: the line to change, and two ways.
cat >fixed.py <<'EOF'
import os
import time

batch_size = 32
for step in range(1, 41):
    print("step %d/40 loss 1.0, batches of %d" % (step, batch_size), flush=True)
    time.sleep(0.01)
EOF
autofit "${OPTIONS[@]}" -- python3 fixed.py
is 'no knob' "$status" 122
is 'no knob: outcome' "$(json_value "$TMP/result" outcome)" not_recognised
is 'no knob: no probe' "$(verdicts)" ''
is 'no knob: not started' "$out" ''
says 'no knob: the line' 'fixed.py:4: batch_size = 32'
says 'no knob: what tells it' 'autofit tune -- python3 fixed.py'
says 'no knob: what runs it' '--edit-copy'
# The script may take it from outside instead.
sed -i 's/^batch_size = 32/batch_size = int(os.environ["MICRO"])/' fixed.py
autofit "${OPTIONS[@]}" --env 'MICRO={micro:32}' -- python3 fixed.py
is 'no knob: the variable works' "$status" 0
like 'no knob: and is set in the run' "$out" '^step 40/40 .* of 32$'
sed -i 's/^batch_size = .*/import sys\nbatch_size = int(sys.argv[1])/' fixed.py
autofit "${OPTIONS[@]}" -- python3 fixed.py '{micro:32}'
is 'no knob: the placeholder works' "$status" 0
like 'no knob: and is replaced in the run' "$out" '^step 40/40 .* of 32$'

# 9. Wrong use, with the way out.
rows='--mem 1G -- ./x -b 8|did you mean --memory\?
--micro-flag 8 -- ./x -b 8|takes the option.s name, such as --micro-flag --bs
--memory 8Q -- ./x -b 8|--memory
tune ./x -b 8|autofit tune -- command
tune run x|to launch torchtune write: autofit -- tune run
--json - -- ./x -b 8|--json
--env BATCH=8 -- ./x|NAME=\{micro\}
--memory|--memory
|autofit --help'
while IFS='|' read -r words way; do
	# shellcheck disable=SC2086 # words are words
	run "$AUTOFIT" $words
	is "wrong use '$words'" "$status" 125
	says "wrong use '$words': the way out" "$way"
done <<<"$rows"

# 10. Growing is said with numbers: what changed and what follows it.
autofit "${OPTIONS[@]}" --grow -- "${TRAIN[@]}" --batch-size 8 \
	--grad-accum 3 --per-sample-kib 4096
is 'grow' "$status" 0
grown=$(sed -nE 's/^    "micro_batch": ([0-9]+),?$/\1/p' "$TMP/result" | head -1)
# (598 MiB - 16 MiB) / 4 MiB = 145.5
is 'grow: the largest' "$grown" 145
says 'grow: by how much' "effective batch went from 24 to 145 \(x 6.04\)"
says 'grow: learning rate' 'x 6.04 linear, x 2.46 square root'
says 'grow: steps' 'max steps and intervals x 0.166'
like 'grow: that is what runs' "$out" "^done: micro $grown accum 1 steps 40"
# The split that is kept when the size that fits is much larger.
autofit "${OPTIONS[@]}" -- "${TRAIN[@]}" --batch-size 2 --grad-accum 4 \
	--per-sample-kib 16384
is 'no grow' "$status" 0
says 'no grow: what could be' \
	'about micro 3[0-9] should fit \(predicted, not run\).*autofit --grow'

# 11. Tuning records and starts nothing; then one answer for both calls.
COMMAND=("${TRAIN[@]}" --batch-size 2 --grad-accum 8 --fixed-mib 3)
autofit tune --largest "${OPTIONS[@]}" -- "${COMMAND[@]}"
is 'tune' "$status" 0
is 'tune: starts nothing' "$out" ''
path=$(sed -nE 's/^ *"path": "(.*)",?$/\1/p' "$TMP/result")
check 'tune: a record' test -s "$path"
autofit "${OPTIONS[@]}" -- "${COMMAND[@]}"
is 'tune: the launch reuses it' "$(json_value "$TMP/result" outcome)" reused
like 'tune: and runs it' "$out" '^done: micro 16 accum 1 steps 40'
autofit tune "${OPTIONS[@]}" --grow -- "${COMMAND[@]}"
grown=$(json_value "$TMP/result" largest_micro_batch)
autofit "${OPTIONS[@]}" --grow -- "${COMMAND[@]}"
is 'tune --grow: the launch reuses it' \
	"$(json_value "$TMP/result" outcome)" reused
like 'tune --grow: and runs the largest' "$out" \
	"^done: micro $grown accum 1 steps 40"

# 12. Explaining starts nothing, not even where it could not be seen.
cat >starts.py <<EOF
import argparse, sys
open("$TMP/was-started", "w").close()
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
EOF
ln -s "$(command -v python3)" python-here
for words in explain --dry-run; do
	autofit "$words" "${OPTIONS[@]}" --allow-writes "$TMP" -- \
		"$TMP/python-here" \
		"$TMP/starts.py" --batch-size 8
	is "$words" "$status" 0
	like "$words: the knob" "$out$err" '--batch-size = 8'
	check "$words: starts nothing" test ! -e was-started
done

# 13. One worker of torchrun is killed from outside.
PYTHON=/usr/bin/python3
if ! "$PYTHON" -c 'import torch.distributed.run' 2>/dev/null; then
	printf 'no PyTorch at %s: torchrun is left out\n' "$PYTHON"
	finish
fi
# The outputs as they would be by default, in words that every version takes:
# 1.13 cannot read the default itself under Python 3.11.
torchrun=("$PYTHON" -m torch.distributed.run --standalone --nproc_per_node 2
	--redirects 2 --tee 1)
export OMP_NUM_THREADS=1
rm -rf "$AUTOFIT_HOME/logs"
"$AUTOFIT" --json "$TMP/result" "${OPTIONS[@]}" -- "${torchrun[@]}" \
	"$SOURCE/tests/data/train_ddp.py" --batch-size 2 --grad-accum 4 \
	--wait 300 >"$TMP/out" 2>"$TMP/err" &
autofit_pid=$!
# shellcheck disable=SC2317 # it is what wait_for calls
worker() {
	victim=$(sed -nE 's/.*rank 1 is process ([0-9]+).*/\1/p' \
		"$AUTOFIT_HOME"/logs/*/probe-1.log | tail -1)
	[ -n "$victim" ]
}
check 'a worker: there' wait_for worker
tree=$(descendants "$autofit_pid")
kill -KILL "$victim"
wait "$autofit_pid"
is 'a worker is killed' "$?" 121
err=$(cat "$TMP/err")
is 'a worker is killed: one probe, failed' "$(verdicts)" failed
says 'a worker is killed: by whom' 'by something other than autofit and the'
unlike 'a worker is killed: not called out of memory' "$(wording "$err")" \
	'[Oo]ut of (host |device |GPU )?memory|oom_|OOM'
# shellcheck disable=SC2086 # process ids are words
check 'a worker is killed: all are gone' wait_for gone $tree

finish
