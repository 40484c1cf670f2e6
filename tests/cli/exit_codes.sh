#!/usr/bin/env bash
# How the command ends is how autofit ends; its own codes mean what is written.
# SPDX-License-Identifier: MIT

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

OPTIONS=(-q --device host --memory 600M --confirm-steps 3)
SIZES=(--batch-size 4 --grad-accum 4 --steps 20)
COMMAND=("$HELPERS/print_state" "${SIZES[@]}")

# What a parent sees: a shell would make one number of code and signal.
ends() {
	"$HELPERS/state_status" "$@" 2>/dev/null
}

# every NAME AUTOFIT...: all codes, and all signals that end a process.
every() {
	local name=$1 got='' wanted='' i

	shift
	for ((i = 0; i < 256; i++)); do
		wanted+="exit $i"$'\n'
		got+=$(STATE_EXIT=$i ends "$@" "${COMMAND[@]}")$'\n'
	done
	if [ "$got" = "$wanted" ]; then
		ok "$name: all exit codes"
	else
		not_ok "$name: all exit codes" \
			"$(diff <(echo "$wanted") <(echo "$got") | head)"
	fi
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 24 25 31 34 64; do
		is "$name: signal $i" \
			"$(STATE_SIGNAL=$i ends "$@" "${COMMAND[@]}")" \
			"signal $i"
	done
}

# Right after a tuning, with codes that are autofit's own among them.
for code in 0 1 119 120 121 122 123 124 125 126 127 128 137 255; do
	rm -rf "$AUTOFIT_HOME"
	is "tuned: exit $code" \
		"$(STATE_EXIT=$code ends "$AUTOFIT" "${OPTIONS[@]}" -- \
			"${COMMAND[@]}")" "exit $code"
	check "tuned: exit $code: recorded" \
		test -n "$(find "$AUTOFIT_HOME/records" -name '*.ini')"
done
for signal in 2 9 11 15; do
	rm -rf "$AUTOFIT_HOME"
	is "tuned: signal $signal" \
		"$(STATE_SIGNAL=$signal ends "$AUTOFIT" "${OPTIONS[@]}" -- \
			"${COMMAND[@]}")" "signal $signal"
done

# The record is that of the last tuning above.
logs() {
	find "$AUTOFIT_HOME/logs" -type f | wc -l
}
before=$(logs)
every 'with a record' "$AUTOFIT" "${OPTIONS[@]}" --
is 'with a record: no probe was run' "$(logs)" "$before"
rm -rf "$AUTOFIT_HOME"
every 'no probe' "$AUTOFIT" "${OPTIONS[@]}" --no-probe --
check 'no probe: nothing is recorded' test ! -e "$AUTOFIT_HOME/records"

# What cannot be started: found out by a probe, by the run, with a record.
printf 'no program' >plain-file
printf '#!/no/such/interpreter\n' >bad-interpreter
chmod +x bad-interpreter
mkdir a-folder
ln -s looping looping
rows='no-such-command|127|No such file or directory
/no/such/command|127|No such file or directory
./no-such-command|127|No such file or directory
./bad-interpreter|127|No such file or directory
./plain-file|126|Permission denied
./a-folder|126|Permission denied
./plain-file/below|126|Not a directory
./looping|126|Too many levels of symbolic links'
while IFS='|' read -r program code reason; do
	for how in '' --no-probe; do
		rm -rf "$AUTOFIT_HOME"
		# shellcheck disable=SC2086 # an empty word would be a command
		run "$AUTOFIT" "${OPTIONS[@]}" $how -- "$program" "${SIZES[@]}"
		is "$program${how:+, $how}" "$status" "$code"
		like "$program${how:+, $how}: says why" "$(tr -s '\n ' '  ' \
			<<<"$err")" "cannot run '$program': $reason"
		is "$program${how:+, $how}: nothing on stdout" "$out" ''
		check "$program${how:+, $how}: no record" \
			test -z "$(find "$AUTOFIT_HOME/records" -name '*.ini' \
				2>/dev/null)"
	done
done <<<"$rows"

# The same without any size to find: not a question of what is recognised.
for words in '' 'tune' '--no-probe'; do
	# shellcheck disable=SC2086 # an empty word would be a command
	run "$AUTOFIT" $words -- no-such-command train.py
	is "no sizes${words:+, $words}: not there" "$status" 127
	# shellcheck disable=SC2086
	run "$AUTOFIT" $words -- ./plain-file train.py
	is "no sizes${words:+, $words}: not executable" "$status" 126
done

# A slip in the name of a sub-command is taken for a program.
for word in esitmate tnue hlep; do
	run "$AUTOFIT" "$word" -- train.py
	is "$word: not there" "$status" 127
	like "$word: what is meant" "$err" 'did you mean autofit (estimate|tune|help)[?]'
done

# A file of this folder is none that the shell finds.
run "$AUTOFIT" -- plain-file train.py
like 'a file here: how it is started' "$err" 'write: \./plain-file$'
touch train-this.py
run "$AUTOFIT" -- train-this.py --batch-size 4
is 'a script here' "$status" 127
like 'a script here: how it is started' "$err" 'write: python train-this\.py$'

# A command in quotes is one word.
run "$AUTOFIT" -- 'python3 train.py --batch-size 4'
is 'a command in quotes' "$status" 127
like 'a command in quotes: what is wrong' "$err" 'leave out the quotes'

# So is a variable, where no shell reads it.
run "$AUTOFIT" -- LR=1 python3 train.py --batch-size 4
is 'a variable of the command' "$status" 127
like 'a variable of the command: where it stands' "$err" 'in front of autofit'

# The program was there when it was tuned.
rm -rf "$AUTOFIT_HOME"
cp "$HELPERS/print_state" ./program
is 'a program of its own' "$(ends "$AUTOFIT" "${OPTIONS[@]}" -- ./program \
	"${SIZES[@]}")" 'exit 0'
chmod -x program
run "$AUTOFIT" "${OPTIONS[@]}" -- ./program "${SIZES[@]}"
is 'no longer executable' "$status" 126
rm program
run "$AUTOFIT" "${OPTIONS[@]}" -- ./program "${SIZES[@]}"
is 'no longer there' "$status" 127

# A wrong use starts nothing, not even where it could not be seen.
export AUTOFIT_ALLOW_WRITES=$TMP
printf '#!/bin/sh\ntouch "%s/started"\n' "$TMP" >toucher
chmod +x toucher
rows='no command|
no command behind --|--
an unknown option|--no-such-option -- ./toucher --batch-size 4
an unknown short option|-Z -- ./toucher --batch-size 4
an abbreviation|--mem 1G -- ./toucher --batch-size 4
no value|--memory
not a size|--memory lots -- ./toucher --batch-size 4
not a number|--max-micro many -- ./toucher --batch-size 4
negative|--max-micro -1 -- ./toucher --batch-size 4
no such device|--device tpu -- ./toucher --batch-size 4
tune without a command|tune
tune without --|tune ./toucher --batch-size 4
explain without --|explain ./toucher --batch-size 4
stdout is the command'"'"'s|--json - -- ./toucher --batch-size 4'
while IFS='|' read -r name words; do
	# shellcheck disable=SC2086 # words are words
	run "$AUTOFIT" $words
	is "usage, $name" "$status" 125
	like "usage, $name: says so" "$err" '^autofit: '
	is "usage, $name: nothing on stdout" "$out" ''
done <<<"$rows"
check 'usage: nothing was started' test ! -e started
unset AUTOFIT_ALLOW_WRITES

for words in --help --version 'help --help'; do
	# shellcheck disable=SC2086 # words are words
	run "$AUTOFIT" $words
	is "$words" "$status" 0
	is "$words: nothing on stderr" "$err" ''
	like "$words: on stdout" "$out" 'autofit'
done

# What only looks: a disk that is full is an error, a reader who has read enough
# is none.
exec 4> >(:)
wait "$!"
for words in --help --version '--completion bash' presets show \
	'estimate --params 7e9' "explain --device host -- $TRAINER --batch-size 8"; do
	# shellcheck disable=SC2086 # words are words
	"$AUTOFIT" $words >/dev/full 2>full.err
	is "a full disk, $words" "$?" 125
	like "a full disk, $words: says so" "$(cat full.err)" \
		'^autofit: error: cannot write to standard output: No space'
	# shellcheck disable=SC2086
	"$AUTOFIT" $words >&4 2>gone.err
	is "a reader that is gone, $words" "$?" 0
	is "a reader that is gone, $words: nothing on stderr" \
		"$(cat gone.err)" ''
done
exec 4>&-

finish
