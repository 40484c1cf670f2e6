#!/usr/bin/env bash
# Presets from outside: listed, printed, as JSON, those of the user among them.
# SPDX-License-Identifier: MIT

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
: "${SOURCE:?the source folder}"

OWN=$AUTOFIT_HOME/config/presets

# fails NAME PATTERN: exit 125, nothing on stdout, one line on stderr.
fails() {
	is "$1" "$status $(wc -l <<<"$err") '$out'" "125 1 ''"
	like "$1: says why" "$err" "$2"
}

# json EXPRESSION: of $out, as Python sees it in r; p: its presets by name.
json() {
	python3 -c 'import json, sys
r = json.load(sys.stdin)
p = {x["name"]: x for x in r["presets"]}
print(*('"$1"'))' <<<"$out"
}

# Those that are built in.
files=$(find "$SOURCE/configs/presets" -name '*.ini' -printf '%f\n' |
	sed 's/\.ini$//' | sort)
run "$AUTOFIT" presets
is "it ends well" "$status $err" "0 "
is "every preset has its line" "$(awk '{ print $1 }' <<<"$out" | sort)" "$files"
is "the usual names are last" "$(tail -n 1 <<<"$out" | awk '{ print $1 }')" \
	generic
is "no folder was made" "$(ls "$AUTOFIT_HOME" 2>/dev/null)" ''
like "a line says what and whence" "$out" \
	'^nanogpt +nanoGPT +built in$'
unlike "no line is anything else" "$out" '^[^ ]+ +[^ ].*[^n]$'

for name in nanogpt generic; do
	run "$AUTOFIT" presets "$name"
	is "$name: it ends well" "$status $err" "0 "
	same "$name is printed as it is" "$TMP/.out" \
		"$SOURCE/configs/presets/$name.ini"
done

# Unknown ones, with those near them.
row() { # NAME PATTERN
	run "$AUTOFIT" presets "$1"
	fails "no preset '$1'" "$2"
}
row tortune 'no preset tortune; near it: torchtune$'
row HF 'near it: .*hf, hf-no-trainer'
row megatron-lm 'near it: megatron$'
row lightning 'near it: lightning-cli$'
row 'hugging face' 'near it: accelerate-examples, hf, hf-no-trainer$'
row zzzzzz 'no preset zzzzzz: autofit presets lists them$'
row '' 'autofit presets lists them$'
row ../nanogpt 'near it: nanogpt$'
run "$AUTOFIT" presets $'x\e[31m'
unlike "no escape sequence is repeated" "$err" $'\e'

# JSON.
run "$AUTOFIT" presets --json -
is "json: it ends well" "$status $err" "0 "
is "json: schema" "$(json 'r["schema"],')" autofit.presets/1
is "json: every preset" "$(json 'sorted(p)' | tr ' ' '\n')" "$files"
is "json: how it is recognised" \
	"$(json 'p["nanogpt"]["recognise"]["source"]')" \
	'configurator.py + exec(open('
is "json: micro" "$(json '[p["nanogpt"]["micro"][k]
	for k in ("name", "scope", "default", "unit", "joined_only")]')" \
	"['--batch_size'] rank 12 plain True"
is "json: what is not there" \
	"$(json 'p["nanogpt"]["global"]["name"], p["nanogpt"]["extends"],
	p["hf"]["steps"]["default"], p["hf"]["path"]')" '[] None None None'
is "json: origin" \
	"$(json '{(x["origin"], x["replaces_built_in"]) for x in p.values()}')" \
	"('built_in', False)"
run "$AUTOFIT" presets --json "$TMP/file.json" timm
is "json in a file: it ends well" "$status $err" "0 "
same "json in a file: the preset is printed" "$TMP/.out" \
	"$SOURCE/configs/presets/timm.ini"
out=$(cat "$TMP/file.json")
is "json of one" "$(json 'list(p)')" timm
run "$AUTOFIT" presets --json "$TMP/nowhere/file.json"
is "json that cannot be written" "$status" 125
like "json that cannot be written: says why" "$err" 'nowhere/file.json'
"$AUTOFIT" presets >/dev/full 2>"$TMP/.err"
is "output that cannot be written" "$?" 125
like "output that cannot be written: says why" "$(cat "$TMP/.err")" \
	'cannot write to standard output'

# Those of the user.
mkdir -p "$OWN"
printf '%s\n' '[preset]' 'description = our fork' 'extends = hf' \
	'[recognise]' 'script = fork.py' >"$OWN/zfork.ini"
printf '%s\n' '[preset]' 'description = another' '[micro]' 'name = --mine' \
	>"$OWN/timm.ini"
touch fork.py
run "$AUTOFIT" presets
is "with the user's: it ends well" "$status $err" "0 "
like "one of the user's" "$out" "^zfork +our fork +$OWN/zfork.ini\$"
like "one that replaces" "$out" \
	"^timm +another +$OWN/timm.ini, replaces the built-in one\$"
is "both in the list" "$(wc -l <<<"$out")" $(($(wc -l <<<"$files") + 1))
run "$AUTOFIT" presets timm
same "the user's is printed" "$TMP/.out" "$OWN/timm.ini"
run "$AUTOFIT" presets --json -
is "json: of the user" "$(json '[p[n][k] for n in ("zfork", "timm")
	for k in ("origin", "path", "replaces_built_in", "extends")]')" \
	"user $OWN/zfork.ini False hf user $OWN/timm.ini True None"
is "json: what it extends is in it" \
	"$(json 'p["zfork"]["micro"]["name"]')" --per_device_train_batch_size
is "json: and what it adds" \
	"$(json 'p["zfork"]["recognise"]["script"][-1],')" fork.py
run "$AUTOFIT" explain --device host -- python3 fork.py \
	--per_device_train_batch_size 4
like "a command is recognised by it" "$out" '^preset *zfork \(script fork.py\)$'

# A preset may be written by anybody's hand.
printf '[preset]\ndescription = a \033[31mred\nkey = 1\n' >"$OWN/broken.ini"
run "$AUTOFIT" presets
fails "a mistake" "$OWN/broken.ini:3: \\[preset\\] has no key key\$"
printf '[preset]\ndescription = a \033[31mred\n[micro]\nname = x\n' \
	>"$OWN/broken.ini"
run "$AUTOFIT" presets
unlike "no escape sequence is listed" "$out" $'\e'
rm "$OWN/broken.ini"

# Words of the command line.
run "$AUTOFIT" presets hf timm
fails "one name only" "does not take 'timm'"
run "$AUTOFIT" presets -- python3 x.py
fails "no command" 'takes no command'

finish
