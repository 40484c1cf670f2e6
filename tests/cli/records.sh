#!/usr/bin/env bash
# Records from outside: shown, lowered, forgotten, handed on, taken over.
# SPDX-License-Identifier: MIT

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

OPTIONS=(--device host --memory 600M --headroom 2M --confirm-steps 3)
COMMAND=(python3 train.py --batch-size 16 --grad-accum 4 --api-key hunter2secret)
RECORDS=$AUTOFIT_HOME/records

cat >train.py <<'END'
import argparse, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--grad-accum", type=int, default=1)
parser.add_argument("--api-key")
args = parser.parse_args()
held = bytearray(b"x") * (args.batch_size << 20)
for step in range(1, 21):
    if os.environ.get("AUTOFIT_PROBE"):
        print("step %d/20 loss 1.0" % step, flush=True)
    time.sleep(0.01)
print("ran with %d x %d" % (args.batch_size, args.grad_accum))
END

on() { # SUB-COMMAND WORDS...: of the command; sets status, out, err
	run "$AUTOFIT" "$@" "${OPTIONS[@]}" -- "${COMMAND[@]}"
}

launch() {
	run "$AUTOFIT" "${OPTIONS[@]}" --json "$TMP/result" -- "${COMMAND[@]}"
}

# reuses NAME OUTPUT: a start needs no probe, and the command runs like that.
reuses() {
	launch
	is "$1" "$status $(json_value "$TMP/result" outcome) $out" "0 reused $2"
}

# fails NAME CODE PATTERN: one line on stderr, nothing on stdout.
fails() {
	is "$1" "$status $(wc -l <<<"$err") '$out'" "$2 1 ''"
	like "$1: says why" "$err" "$3"
}

# json EXPRESSION: of $out, as Python sees it in r.
json() {
	python3 -c 'import json, sys
r = json.load(sys.stdin)
print(*('"$1"'))' <<<"$out"
}

# number KEY FILE: of the first section.
number() {
	sed -nE "s/^$1 = ([0-9]+)\$/\1/p" "$2" | head -n 1
}

# show_all: its $out with every record on one line.
show_all() {
	run "$AUTOFIT" show
	out=$(sed -E ':a;N;$!ba;s/\n +/ /g' <<<"$out")
}

# What is recorded, to see that nothing changed.
recorded() {
	(cd "$RECORDS" 2>/dev/null && find . -type f -exec cksum {} + | sort)
}

# 1. Nothing yet.
show_all
like 'show: nothing yet' "$out" 'nothing is recorded yet'
for word in lower forget 'export json'; do
	read -ra words <<<"$word"
	on "${words[@]}"
	fails "$word: of a command without a record" 125 'record'
	for name in nothing ../records/x /etc/passwd . .. a/b '' $'a\033[31m'; do
		run "$AUTOFIT" "${words[@]}" "$name"
		fails "$word: '$(printf %q "$name")'" 125 'record'
		unlike "$word: no escape comes through" "$err" $'\033'
	done
done

# 2. A record, and what show says of it.
on tune
is 'tune' "$status" 0
name=$(basename "$RECORDS"/*.ini .ini)
cp "$RECORDS/$name.ini" first.ini
micro=$(number micro_batch first.ini)
is 'the largest split fits' "$micro" 64
show_all
like 'show: its line' "$out" "^$name +[-0-9]+ +64 x 1 "
like 'show: its mode and command' "$out" \
	' keep +host memory: python3 train.py --batch-size 16 '
run "$AUTOFIT" list
like 'list: the same' "$out" "^$name "
run "$AUTOFIT" show --json -
is 'show --json' "$(python3 -c 'import json, sys
told = json.load(sys.stdin)
(one,) = told["records"]
print(told["schema"], one["name"], one["mode"], one["recommended"]["micro_batch"],
      one["command"][-1])' <<<"$out")" "autofit.records/1 $name keep 64 ***"
run "$AUTOFIT" show --json - "$name"
like 'show --json NAME' "$out" "\"name\": \"$name\""
run "$AUTOFIT" show "$name"
like 'show NAME: how probes were kept apart' "$out" '^ +isolation '
on show
like 'show -- command' "$out" "^$name\$"
run "$AUTOFIT" show --device host --memory 500M -- "${COMMAND[@]}"
fails 'show -- command: tuned with other options' 125 'with these options'
on show
unlike 'show: no secret' "$out" hunter2secret
reuses 'a start uses it' 'ran with 64 x 1'

# 3. Export.
on export json
cp "$TMP/.out" exported.json
is 'export json: keys of a reuse' "$status $(json 'r["schema"], r["outcome"],
	r["recommended"]["micro_batch"], r["record"]["grade"], r["record"]["id"],
	r["recommended"]["argv"][:5]')" \
	"0 autofit.result/1 reused 64 exact $name ['python3', 'train.py', '--batch-size', '64', '--grad-accum']"
unlike 'export json: no secret' "$out" hunter2secret
run "$AUTOFIT" export json "$name"
is 'export json NAME: what would be run is not known' \
	"$status $(json 'r["recommended"]["argv"], r["recommended"]["grad_accum"]')" \
	'0 None 1'
run "$AUTOFIT" export record "$name"
is 'export record' "$status" 0
same 'export record: the file' "$TMP/.out" first.ini
for words in "$name" "${OPTIONS[*]} -- ${COMMAND[*]}"; do
	read -ra words <<<"$words"
	case ${words[0]} in
	--*) run "$AUTOFIT" export args "${words[@]}" ;;
	*) run "$AUTOFIT" export "${OPTIONS[@]}" args "${words[@]}" ;;
	esac
	is "export args ${words[0]}" "$status $out" '0 --batch-size 64 --grad-accum 1'
done
run "$AUTOFIT" export args "$name"
is 'export args NAME: options of the tuning need not be said again' \
	"$status $out" '0 --batch-size 64 --grad-accum 1'
run "$AUTOFIT" export --micro-flag --epochs args "$name"
fails 'export args NAME: read in another way it cannot be told' 125 'give it'
on export command
is 'export command: runs' "$status $(bash -c "$out" | tail -n 1)" \
	'0 ran with 64 x 1'
run "$AUTOFIT" export command "$name"
fails 'export command NAME' 125 'as it was typed'
run "$AUTOFIT" export toast "$name"
is 'export: another format' "$status" 125

# 4. Lower.
SLURM_JOB_ID=1 SLURM_CLUSTER_NAME=x launch
on lower
is 'lower' "$status $err" '0 '
like 'lower: its line' "$out" \
	"^$name: lowered from micro 64 x accum 1 to micro [0-9]+ x accum [0-9]+.*the next start uses it\$"
lower=$(number micro_batch "$RECORDS/$name.ini")
split="$lower x $((64 / lower))"
check 'lower: a smaller one' [ "$lower" -lt 64 ]
is 'lower: its peak' "$(number peak_bytes "$RECORDS/$name.ini")" \
	"$(sed -n "/^micro_batch = $lower\$/,/^\$/s/^peak_bytes = //p" \
		"$RECORDS/$name.ini" | tail -n 1)"
is 'lower: what did not fit' \
	"$(number lowered_from "$RECORDS/$name.ini") $(number smallest_misfit "$RECORDS/$name.ini")" \
	'64 64'
reuses 'lower: the next start uses it' "ran with $split"
is 'lower: and says why' "$(grep -c 'lowered from micro 64, which ran' "$TMP/result")" 1
show_all
like 'show: lowered' "$out" "^$name .*lowered from micro 64"
SLURM_JOB_ID=1 SLURM_CLUSTER_NAME=x SLURM_RESTART_COUNT=1 launch
like 'lower: a requeued job as well' "$out" "ran with $split"
while run "$AUTOFIT" lower "$name" && [ "$status" = 0 ]; do
	lower=$(number micro_batch "$RECORDS/$name.ini")
done
before=$(recorded)
run "$AUTOFIT" lower "$name"
fails 'lower: none is left' 120 "no smaller split.*--max-micro $((lower - 1)) -- "
is 'lower: nothing is changed then' "$(recorded)" "$before"
cp "$RECORDS/$name.ini" lowered.ini

# 5. Import, into the home of another.
import() { # FILE: sets status, out, err
	run "$AUTOFIT" import "$1"
}
export AUTOFIT_HOME=$TMP/other
RECORDS=$AUTOFIT_HOME/records
import first.ini
is 'import' "$status $err" '0 '
like 'import: its line' "$out" "^imported $name: micro 64 x accum 1 on host"
is 'import: mode' "$(stat -c %a "$RECORDS/$name.ini")" 600
unlike 'import: no paths of logs' "$(cat "$RECORDS/$name.ini")" '^log ='
reuses 'import: used where all is the same' 'ran with 64 x 1'
before=$(recorded)
for file in first.ini exported.json; do
	import $file
	is "import $file again" "$status $(recorded)" "0 $before"
	like "import $file again: says so" "$out" '^kept '
done
import lowered.ini
like 'import: a newer one' "$status $out" '^0 imported over an older one'
is 'import: is that' "$(number micro_batch "$RECORDS/$name.ini")" "$lower"
import first.ini
like 'import: an older one' "$status $out" '^0 kept .* newer'
for file in first.ini exported.json; do
	rm -rf "$AUTOFIT_HOME"
	run "$AUTOFIT" import - <$file
	like "import - <$file" "$status $out" "^0 imported $name"
	same "import - <$file: is the file" \
		<(grep -v '^log =\|^	' "$RECORDS/$name.ini") \
		<(grep -v '^log =\|^	' first.ini)
done

# Another identity of that name stays; a letter that was given elsewhere goes.
sed 's/^\(identity = [0-9]*:\)a/\1b/' first.ini >"$RECORDS/$name.ini"
cp "$RECORDS/$name.ini" another.ini
import first.ini
like 'import: the name of another identity' "$status $out" \
	"^0 imported ${name}b: "
same 'import: the other stays' "$RECORDS/$name.ini" another.ini
rm "$RECORDS"/*
sed "s/^id = .*/id = $((${#name} + 1)):${name}c/" first.ini >letter.ini
import letter.ini
like 'import: a letter of elsewhere' "$status $out" "^0 imported $name: "

# 6. What cannot be imported changes nothing.
rm -rf "$AUTOFIT_HOME"
import lowered.ini
before=$(recorded)
mkdir folder
mkfifo fifo
: >empty
printf '{"schema": "autofit.result/1", "record_ini": ' >open.json
truncate -s 65M huge
truncate -s 9M huge.json && printf '{' | dd of=huge.json conv=notrunc status=none
head -c $(($(wc -c <first.ini) / 2)) first.ini >half
{ cat first.ini; printf '\0'; } >nul
python3 -c 'print("{\"a\":" * 100000)' >deep.json
python3 -c 'print("[" * 100000)' >deep-array
echo '{"schema": "autofit.result/1", "schema": "autofit.result/1"}' >twice.json
echo '{"schema": "autofit.result/1", "record_ini": "../../x"}' >path.json
echo '{"schema": "autofit.result/2", "record_ini": ""}' >other.json
echo '{"schema": 1, "record_ini": []}' >types.json
edit() { # SCRIPT FILE: of first.ini
	sed -E "$1" first.ini >"$2"
	cmp -s first.ini "$2" && not_ok "edit $2"
}
edit 's,^id = .*,id = 7:../../x,' id-path
edit 's,^id = .*,id = 4:/etc,' id-absolute
edit 's,^id = .*,id = 15:train-host-0000,' id-other
edit 's,^id = .*,id = 7:train-x,' id-plain
edit 's,^created = .*,created = 9999999999,' future
edit 's,^micro_batch = 64,micro_batch = 0,' zero
edit 's,^micro_batch = 64,micro_batch = -64,' negative
edit 's,^micro_batch = 64,micro_batch = 99999999999999999999,' large
edit 's,^grad_accum = 1$,grad_accum = 2,' no-product
edit 's,^device_kind = .*,device_kind = 3:tpu,' device
for file in folder fifo /dev/zero /dev/null missing empty open.json huge \
	huge.json half nul deep.json deep-array twice.json path.json \
	other.json types.json id-path id-absolute id-other id-plain future \
	zero negative large no-product device; do
	import $file
	fails "import $file" 125 '.'
done
is 'nothing of these changed a record' "$(recorded)" "$before"
check 'nor anything beside them' [ ! -e "$AUTOFIT_HOME/x.ini" ] # ../../x
for file in /dev/null huge deep.json half; do
	run "$AUTOFIT" import - <$file
	fails "import - <$file" 125 '.'
done
cp first.ini writable.ini && chmod 666 writable.ini
import writable.ini
fails 'import: what anybody may write' 125 'writable.ini'
if [ "$(id -u)" = 0 ]; then
	cp first.ini foreign.ini && chown 65534 foreign.ini
	import foreign.ini
	fails 'import: the file of another user' 125 'foreign.ini'
fi
is 'import: neither is' "$(recorded)" "$before"

# 7. Forget: the record, its starts; then there is nothing left of it.
SLURM_JOB_ID=1 SLURM_CLUSTER_NAME=x launch
run "$AUTOFIT" forget "$name"
is 'forget NAME' "$status $out" "0 removed record $name"
is 'forget NAME: no record' "$(recorded)" ''
is 'forget NAME: no start' "$(find "$AUTOFIT_HOME/starts" -type f 2>/dev/null)" ''
run "$AUTOFIT" forget "$name"
fails 'forget: it is gone' 125 'no record is called'

# Only a journal: of a tuning that was cut short.
on tune --max-probes 1
is 'a tuning is cut short' "$status" 124
is 'a journal is left' "$(find "$AUTOFIT_HOME/journals" -type f | wc -l)" 1
on forget
is 'forget -- command: the journal' "$status $(wc -l <<<"$out")" '0 2'
like 'forget -- command: says so' "$out" 'removed the journal'
like 'forget -- command: there was no more' "$out" 'no record of this command'
is 'no journal is left' "$(find "$AUTOFIT_HOME/journals" -type f)" ''
import first.ini
cp "$RECORDS/$name.ini" "$RECORDS/${name}b.ini"
on forget
is 'forget -- command: all of its files' "$status $(wc -l <<<"$out") $(recorded)" '0 2 '

# A damaged one can be forgotten by its name.
echo 'no record' >"$RECORDS/damaged-host-0000.ini"
show_all
like 'show: damaged' "$out" '^damaged-host-0000 +passed over: '
run "$AUTOFIT" show damaged-host-0000
fails 'show NAME: damaged' 125 'damaged-host-0000'
run "$AUTOFIT" forget damaged-host-0000
is 'forget NAME: damaged' "$status $(recorded)" '0 '

# A tuning under way keeps what it uses; a killed one leaves it behind.
COMMAND=(python3 slow.py --batch-size 16 --grad-accum 4)
sed 's/0\.01/0.5/' train.py >slow.py
"$AUTOFIT" tune "${OPTIONS[@]}" -- "${COMMAND[@]}" >/dev/null 2>&1 &
pid=$!
held() { [ -n "$(find "$AUTOFIT_HOME/leases" -name '*.lease')" ]; }
check 'a tuning is under way' wait_for held
on forget
is 'forget: of a tuning under way nothing' "$status $out" '125 '
like 'forget: says whose it is' "$err" "process $pid on "
check 'its lease stays' held
{ kill -KILL $pid; wait $pid; } 2>/dev/null
check 'the lease of the killed is left' held
on forget
like 'forget: of a killed tuning' "$status $out" '^0 removed the journal'
like 'forget: and its lease' "$out" 'removed the lease'
is 'nothing is left of it' \
	"$(find "$AUTOFIT_HOME/journals" "$AUTOFIT_HOME/leases" -type f)" ''

# Killed between its record and its end: the next start clears up.
COMMAND=(python3 halt.py --batch-size 16 --grad-accum 4)
sed 's/0\.01/0.5 if os.path.exists("halt") else 0.01/' train.py >halt.py
on tune
is 'it is recorded' "$status" 0
touch halt
"$AUTOFIT" tune --fresh "${OPTIONS[@]}" -- "${COMMAND[@]}" >/dev/null 2>&1 &
pid=$!
check 'it is tuned again' wait_for held
on tune
is 'a start beside it uses the record' "$status $(held && echo held)" '0 held'
{ kill -KILL $pid; wait $pid; } 2>/dev/null
rm halt
launch
is 'a start after it, too' "$status" 0
is 'and nothing of the killed is left' \
	"$(find "$AUTOFIT_HOME/journals" "$AUTOFIT_HOME/leases" -type f)" ''

# 8. The site's records are read, never touched.
COMMAND=(python3 train.py --batch-size 16 --grad-accum 4 --api-key hunter2secret)
rm -rf "$AUTOFIT_HOME"
export AUTOFIT_SITE=$TMP/site
mkdir "$AUTOFIT_SITE" "$AUTOFIT_SITE/records"
chmod 755 "$AUTOFIT_SITE" "$AUTOFIT_SITE/records"
sed '/^log = /,/^[^\t]/{/^log = /d;/^\t/d}' first.ini >"$AUTOFIT_SITE/records/$name.ini"
cp "$AUTOFIT_SITE/records/$name.ini" site.ini
show_all
like 'show: of the site' "$out" "^$name .*of the site"
run "$AUTOFIT" show "$name"
like 'show NAME: of the site' "$status $out" "^0 $name\$"
for words in "$name" "${OPTIONS[*]} -- ${COMMAND[*]}"; do
	read -ra words <<<"$words"
	run "$AUTOFIT" forget "${words[@]}"
	fails "forget: of the site, ${words[0]}" 125 'only read'
done
reuses 'a start uses the record of the site' 'ran with 64 x 1'
on lower
like 'lower: of the site' "$status $out" '^0 .*in your own folder'
reuses 'lower: the own copy counts' "ran with $split"
on forget
like 'forget: the own copy' "$status $out" "^0 removed record $name\$"
like 'forget: the other is named' "$out" 'of the site.*stays'
same 'the record of the site is as it was' "$AUTOFIT_SITE/records/$name.ini" site.ini
chmod 666 "$AUTOFIT_SITE/records/$name.ini"
show_all
like 'show: what anybody may write' "$out" "^$name +passed over: "
run "$AUTOFIT" export json "$name"
fails 'export: neither' 125 "$name"

finish
