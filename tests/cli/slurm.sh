#!/usr/bin/env bash
# Inside a real Slurm: ranks, batch scripts, allocations, the login node.
# SPDX-License-Identifier: MIT
# CTEST RUN_SERIAL ON

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

NOTED=${SOURCE:?the folder of the sources}/tests/cli/helpers/noted.sh
NODE=$(hostname -s)

[ "$(id -u)" -eq 0 ] || skip_all 'only root can start a Slurm of its own'
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd srun sbatch salloc scontrol; do
	command -v "$program" >/dev/null || skip_all "$program is not installed"
done

free_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# Everything in $TMP: nothing of a Slurm that may be installed is touched.
configure() {
	mkdir "$TMP/state" "$TMP/spool"
	dd if=/dev/urandom of="$TMP/munge.key" bs=64 count=1 2>/dev/null
	chmod 0400 "$TMP/munge.key"
	cat >"$TMP/slurm.conf" <<END
ClusterName=autofit
SlurmctldHost=$NODE(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$TMP/munge.socket
StateSaveLocation=$TMP/state
SlurmdSpoolDir=$TMP/spool
SlurmctldPidFile=$TMP/slurmctld.pid
SlurmdPidFile=$TMP/slurmd.pid
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
SchedulerParameters=sched_min_interval=100000
ReturnToService=2
KillWait=2
InactiveLimit=0
NodeName=$NODE NodeAddr=127.0.0.1 CPUs=8
PartitionName=test Nodes=$NODE Default=YES MaxTime=10
END
}

is_idle() {
	[ "$(sinfo -h -o %T)" = idle ]
}

# In the foreground: they are this shell's children, and end with it.
start_slurm() {
	chmod 0755 "$TMP"
	munged --foreground --force --key-file="$TMP/munge.key" \
		--socket="$TMP/munge.socket" --pid-file="$TMP/munged.pid" \
		--log-file="$TMP/munged.log" --seed-file="$TMP/munged.seed" \
		--num-threads=2 >"$TMP/munged.out" 2>&1 &
	wait_for test -S "$TMP/munge.socket" ||
		skip_all "munged does not start: $(tail -1 "$TMP/munged.out")"
	slurmctld -D -i -f "$SLURM_CONF" >"$TMP/slurmctld.log" 2>&1 &
	slurmd -D -f "$SLURM_CONF" -N "$NODE" >"$TMP/slurmd.log" 2>&1 &
	wait_for is_idle ||
		skip_all "Slurm does not start: $(
			grep -hE 'error|fatal' "$TMP"/slurm*.log | tail -2
		)"
}

stop_slurm() {
	scancel --full --state=RUNNING 2>/dev/null
	scontrol shutdown >/dev/null 2>&1
	wait_for gone "$(cat "$TMP/slurmd.pid" 2>/dev/null || echo 0)"
	lib_clean
}

export SLURM_CONF=$TMP/slurm.conf
configure
trap stop_slurm EXIT
start_slurm

OPTIONS=(--device host --memory 40MiB --headroom 4MiB --confirm-steps 3
	--allow-writes "$TMP/notes")
COMMAND=("$NOTED" "$TRAINER" --batch-size 2 --grad-accum 8 --steps 5 --step-ms 20
	--fixed-mib 1 --per-sample-kib 1024)
export NOTES=$TMP/notes
mkdir "$NOTES"

# How often something was started since the last look.
noted() { # probe|run
	grep -c "^$1 " "$NOTES/log" 2>/dev/null
}

forget() {
	rm -rf "$AUTOFIT_HOME" "$NOTES/log" "$TMP"/rank.* result.json
}

# ranks SRUN-OPTIONS... -- AUTOFIT-OPTIONS...: rank.N.out and .err, $status
ranks() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	srun "${options[@]}" --output="$TMP/rank.%t.out" \
		--error="$TMP/rank.%t.err" "$AUTOFIT" "$@" -- "${COMMAND[@]}" \
		>srun.out 2>&1
	status=$?
}

# Four ranks: none of them tunes, and all say the same.
forget
ranks -n 4 -- "${OPTIONS[@]}"
is 'four ranks: exit' "$status" 123
for rank in 1 2 3; do
	same "four ranks: rank $rank says what rank 0 says" \
		"$TMP/rank.0.err" "$TMP/rank.$rank.err"
done
said=$(tr -s '\n ' '  ' <"$TMP/rank.0.err")
like 'four ranks: why' "$said" 'one of 4 ranks here \(SLURM_STEP_NUM_TASKS\)'
like 'four ranks: the way out' "$said" 'srun --ntasks=1 autofit -- '
is 'four ranks: nothing was started' "$(noted probe),$(noted run)" ','
is 'four ranks: nothing on stdout' "$(cat "$TMP"/rank.*.out)" ''

for words in '--no-probe' '--otherwise run'; do
	forget
	# shellcheck disable=SC2086 # words are words
	ranks -n 4 -- "${OPTIONS[@]}" $words
	is "four ranks, $words: exit" "$status" 0
	is "four ranks, $words: all run as given" \
		"$(grep -c 'done: micro 2 accum 8' "$TMP"/rank.*.out |
			sed 's/.*://' | tr '\n' ' ')" '1 1 1 1 '
	is "four ranks, $words: no probe" "$(noted run)$(noted probe)" 40
done

# The only rank of a step tunes.
forget
ranks -n 1 -- "${OPTIONS[@]}" --json "$TMP/result.json"
is 'one rank: exit' "$status" 0
is 'one rank: tuned' "$(json_value result.json outcome)" tuned
is 'one rank: runs with it' "$(tail -1 "$TMP/rank.0.out")" \
	'done: micro 16 accum 1 steps 5'
ranks -n 1 -- "${OPTIONS[@]}" --json "$TMP/result.json"
is 'one rank again: reused' "$(json_value result.json outcome)" reused

# A batch script with two tasks is one process: world 1.
cat >batch.sh <<END
#!/bin/sh
env | grep '^SLURM_' | sort >"$TMP/batch.env"
exec "$AUTOFIT" ${OPTIONS[*]} --json "$TMP/result.json" -- ${COMMAND[*]}
END
forget
run sbatch --wait --parsable --ntasks=2 --output="$TMP/batch.out" batch.sh
is 'batch script: exit' "$status" 0
like 'batch script: it has two tasks' "$(cat batch.env)" '^SLURM_NTASKS=2$'
is 'batch script: tuned' "$(json_value result.json outcome)" tuned
is 'batch script: asked for' \
	"$(json_value result.json effective_batch_asked)" 16
like 'batch script: world 1' "$(cat result.json)" '"world_size": 1,'
is 'batch script: runs' "$(tail -1 batch.out)" 'done: micro 16 accum 1 steps 5'
# A probe beyond the limit was stopped by autofit, not by the kernel.
like 'batch script: its state' "$(scontrol show job "$out")" \
	'JobState=COMPLETED '

# One task that meets its limit of memory in a probe.
cat >limited.sh <<END
#!/bin/sh
exec "$AUTOFIT" --device host --memory 12MiB --headroom 2MiB \\
	--confirm-steps 3 --json "$TMP/result.json" -- $TRAINER \\
	--batch-size 16 --grad-accum 1 --steps 5 --step-ms 20 --fixed-mib 1 \\
	--per-sample-kib 1024
END
forget
run sbatch --wait --parsable --ntasks=1 --output="$TMP/batch.out" limited.sh
is 'over the limit: tuned below it' "$status" 0
like 'over the limit: a probe was' "$(cat result.json)" 'over_budget|oom_host'
unlike 'over the limit: the job is not out of memory' \
	"$(scontrol show job "$out")" 'OUT_OF_MEMORY'

# Inside an allocation, with and without a step.
forget
run salloc --ntasks=1 "$AUTOFIT" --max-micro 8 --confirm-steps 3 \
	--headroom 64MiB --allow-writes "$NOTES" --json "$TMP/result.json" -- \
	"${COMMAND[@]}"
is 'salloc: exit' "$status" 0
is 'salloc: tuned' "$(json_value result.json outcome)" tuned
forget
run salloc --ntasks=4 srun --ntasks=1 "$AUTOFIT" "${OPTIONS[@]}" \
	--json "$TMP/result.json" -- "${COMMAND[@]}"
is 'salloc and srun of one task: exit' "$status" 0
is 'salloc and srun of one task: tuned' \
	"$(json_value result.json outcome)" tuned

# In front of srun, whose ranks are children of slurmd: where srun stands in a
# shell's text they report nothing, and what they use nobody can see from here.
# (That they report otherwise shows slurm_ranks.py.)
forget
run salloc --ntasks=2 "$AUTOFIT" "${OPTIONS[@]}" -- \
	sh -c "srun -n 2 ${COMMAND[*]:1}"
is 'in front of srun: exit' "$status" 123
like 'in front of srun: why' "$(tr -s '\n ' '  ' <<<"$err")" 'no child of autofit.*srun --ntasks=1 autofit'
is 'in front of srun: nothing was started' "$out" ''
forget
run salloc --ntasks=2 "$AUTOFIT" --no-probe -- srun -n 2 "${COMMAND[@]}"
is 'in front of srun, --no-probe: it runs' "$status" 0
is 'in front of srun, --no-probe: both of them' "$(noted run)" 2

# Outside: Slurm is configured and there is no allocation.
forget
run "$AUTOFIT" -- "${COMMAND[@]}"
is 'login node: exit' "$status" 123
like 'login node: says so' "$(tr -s '\n ' '  ' <<<"$err")" 'login node'
is 'login node: nothing was started' "$(noted probe),$(noted run)" ','

finish
