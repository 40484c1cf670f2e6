#!/usr/bin/env bash
# A command started by autofit finds everything as if it were started bare.
# SPDX-License-Identifier: MIT

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# What the caller left open beside 0 to 2 may move meanwhile: ctest's log does.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-

# The one folder that probes write into for real.
NOTES=$TMP/notes
mkdir "$NOTES"

COMMAND=("$HELPERS/print_state" --state "$TMP/state"
	--batch-size 4 --grad-accum 4 --steps 20)
OPTIONS=(--device host --memory 600M --confirm-steps 3)

# Names are what the options of state_enter.c say, before the row's command
# (nohup and such) has its turn: name | prefix | options.
rows='plain||
stdin closed||close=0
stdout closed||close=1
stderr closed||close=2
stdin and stdout closed||close=0 close=1
all three closed||close=0 close=1 close=2
more descriptors open||open=5 keep=9
descriptors 3 to 6 open||open=3 open=4 open=5 open=6
stdout is a pipe||pipe=1
stdout is a pipe that does not block||pipe=1 nonblock=1
stderr is a pipe that does not block||pipe=2 nonblock=2
hangup ignored||ignore=1
keys ignored||ignore=2 ignore=3 ignore=20
broken pipe ignored||ignore=13
broken pipe not ignored||default=13
children not waited for||ignore=17
realtime signals ignored||ignore=34 ignore=64
signals blocked||block=10 block=17 block=15 block=64
interrupt and terminal stop blocked||block=2 block=20
a signal that waits||pend=12
an ignored hangup that waits||ignore=1 block=1 pend=1
an ignored interrupt that waits||ignore=2 block=2 pend=2
everything ignored that can be||ignore=1 ignore=2 ignore=3 ignore=13 ignore=15
nohup|nohup|
a session of its own||session=1
a group of its own||group=1
umask 027||umask=027
another folder||folder=/
few descriptors||limit=7:64
no core, small stack||limit=4:0 limit=3:1048576
address space, data, files||limit=9:8589934592 limit=2:8589934592 limit=1:4194304
subreaper||subreaper=1
dies with its parent||deathsig=15
niced|nice -n 5|
timer slack||slack=70000
one processor||cpu=0
an alarm is set||alarm=1000
hardly any environment|env -i HOME=/nowhere AUTOFIT_HOME=/HOME STATE_EXIT=3|
a child that lives||child=1000
a child that has ended||ended=7
children of both kinds and a subreaper||child=1000 ended=9 subreaper=1
everything at once|nohup nice -n 3|close=0 close=1 close=2 open=7 ignore=13 ignore=17 block=10 umask=077 subreaper=1 session=1 limit=7:128'

# How the command of the row is started: WORDS go before it.
start() { # WORDS...
	local status

	printf 'a line for the command\n' >input
	# shellcheck disable=SC2086 # options and prefix are lists
	$prefix "$HELPERS/state_enter" $options -- "$@" "${COMMAND[@]}" \
		<input >stdout 2>stderr
	status=$?
	echo "exit $status" >>state
	mv state "$name_of_run.state"
	mv stdout "$name_of_run.stdout"
	mv stderr "$name_of_run.stderr"
}

outcome() {
	json_value result.json outcome 2>/dev/null
}

while IFS='|' read -r name prefix options; do
	prefix=${prefix//\/HOME/$AUTOFIT_HOME}
	rm -rf "$AUTOFIT_HOME" result.json ./*.state
	name_of_run=bare
	start
	name_of_run=tuned
	start "$AUTOFIT" "${OPTIONS[@]}" --json "$TMP/result.json" --
	is "$name: tuned" "$(outcome)" tuned
	same "$name: the state after a tuning" bare.state tuned.state
	name_of_run=reused
	rm -f result.json
	start "$AUTOFIT" "${OPTIONS[@]}" --json "$TMP/result.json" --
	is "$name: reused" "$(outcome)" reused
	same "$name: the state with a record" bare.state reused.state
	case $options in
	*=1\ * | *close=1 | *pipe=1*) ;;
	*)
		is "$name: the command has the tuned sizes" \
			"$(cat bare.stdout tuned.stdout reused.stdout)" \
			"micro 4 accum 4
micro 16 accum 1
micro 16 accum 1"
		;;
	esac
done <<<"$rows"

prefix='' options=''
rm -rf "$AUTOFIT_HOME"

# --no-probe without a record: as given.
name_of_run=as_given
start "$AUTOFIT" --no-probe --json "$TMP/result.json" --
is 'no probe: as given' "$(outcome)" as_given
name_of_run=bare
start
same 'no probe: the state' bare.state as_given.state
same 'no probe: nothing but the command on stdout' bare.stdout as_given.stdout

# Inside a probe autofit is nothing but its command: no record, no folder.
rm -rf "$AUTOFIT_HOME"
export AUTOFIT_PROBE=0123 STATE_ALWAYS=1
name_of_run=bare
start
name_of_run=nested
start "$AUTOFIT" "${OPTIONS[@]}" --
same 'inside a probe: the state' bare.state nested.state
same 'inside a probe: the sizes as they are' bare.stdout nested.stdout
is 'inside a probe: not a word' "$(cat nested.stderr)" ''
check 'inside a probe: nothing is written' test ! -e "$AUTOFIT_HOME"
run "$AUTOFIT" -- sh -c 'exit 42'
is 'inside a probe: a command without sizes' "$status" 42
run "$AUTOFIT" -- /no/such/command
is 'inside a probe: no such command' "$status" 127
run "$AUTOFIT" tune -- sh -c 'exit 43'
is 'inside a probe: tune starts it as well' "$status" 43
unset AUTOFIT_PROBE STATE_ALWAYS

# A script that itself starts its trainer by autofit.
cat >nested.sh <<END
#!/bin/sh
echo "\${AUTOFIT_PROBE:+probe} \$*" >>"$NOTES/starts"
exec "$AUTOFIT" -q --device host --memory 600M --confirm-steps 3 -- \\
	"$HELPERS/print_state" --state "$TMP/state" "\$@"
END
chmod +x nested.sh
run "$AUTOFIT" "${OPTIONS[@]}" --allow-writes "$NOTES" -- \
	./nested.sh --batch-size 4 --grad-accum 4
is 'nested: the sizes' "$status $out" '0 micro 16 accum 1'
is 'nested: the last start is the run' "$(tail -1 notes/starts)" \
	' --batch-size 16 --grad-accum 1'
like 'nested: the starts before are probes' "$(head -1 notes/starts)" \
	'^probe --batch-size 4 '
# One tuning outside, one inside the run: none inside a probe.
is 'nested: two tunings' "$(find "$AUTOFIT_HOME/records" -name '*.ini' | wc -l)" 2

# What waits on stdin is for the command; a probe reads nothing there.
cat >reader.sh <<END
#!/bin/sh
if [ -n "\$AUTOFIT_PROBE" ]; then
	cat >>"$NOTES/read"
	echo end >>"$NOTES/read"
	exec "$TRAINER" "\$@"
fi
exec cat
END
chmod +x reader.sh
for how in tuned reused; do
	out=$(printf 'one\ntwo\n' | "$AUTOFIT" -q "${OPTIONS[@]}" \
		--allow-writes "$NOTES" -- \
		./reader.sh --batch-size 4 --grad-accum 4)
	is "$how: stdin is the command's" "$out" 'one
two'
done
is 'a probe finds nothing on stdin' "$(sort -u notes/read)" end

# The keeper of the first probe is killed: repeated, and nothing is left. The
# program that the script starts has a record.
cat >killer.sh <<END
#!/bin/sh
if [ -n "\$AUTOFIT_PROBE" ] && mkdir "$NOTES/killed" 2>/dev/null; then
	setsid sleep 1000 &
	echo \$! >"$NOTES/worker"
	kill -KILL \$PPID
	exec sleep 1000
fi
exec ${COMMAND[*]} "\$@"
END
chmod +x killer.sh
for how in bare tuned; do
	options='child=1000 ended=7'
	name_of_run=$how
	COMMAND=(./killer.sh --batch-size 4 --grad-accum 4)
	if [ $how = bare ]; then
		start
	else
		start "$AUTOFIT" "${OPTIONS[@]}" --fresh \
			--allow-writes "$NOTES" --json "$TMP/result.json" --
	fi
done
is 'a killed keeper: tuned all the same' "$(outcome)" tuned
same 'a killed keeper: the state' bare.state tuned.state
is 'a killed keeper: no misfit' "$(cat tuned.stdout)" 'micro 16 accum 1'
check 'a killed keeper: its worker is gone' gone "$(cat notes/worker)"

# nohup: a hangup in the middle of a tuning changes nothing.
nohup "$AUTOFIT" "${OPTIONS[@]}" --json "$TMP/hangup.json" -- \
	"$TRAINER" --batch-size 4 --grad-accum 4 --steps 9 --step-ms 40 \
	>nohup.out 2>nohup.err </dev/null &
pid=$!
# shellcheck disable=SC2317 # wait_for calls it
has_worker() {
	[ -n "$(descendants "$pid")" ]
}
check 'nohup: a probe runs' wait_for has_worker
kill -HUP "$pid"
wait "$pid"
is 'nohup: the command has run' "$? $(tail -1 nohup.out)" \
	'0 done: micro 16 accum 1 steps 9'
is 'nohup: tuned' "$(json_value hangup.json outcome)" tuned

finish
