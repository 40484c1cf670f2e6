#!/usr/bin/env bash
# README and manual name what there is, all of it, and nothing else.
# SPDX-License-Identifier: MIT
set -euo pipefail
: "${AUTOFIT:?the program}" "${SOURCE:?the source folder}"

# Options of other programs that the texts may name.
others='batch-size|grad-accum|steps|bs|max_steps|output_dir|prefix|ntasks'
others+='|per_device_train_batch_size|gradient_accumulation_steps|install'
others+='|nproc_per_node|build|api_key|password|token|config|grad'
others+='|per-sample-kib|step-ms|fixed-mib|fail-at-step|save'
# One that only the shells' completions call, so that --help does not show it.
others+='|complete'

cd "$SOURCE"
texts=(README.md docs/manual.md docs/estimate.md)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export AUTOFIT_HOME=$scratch/home
failed=0

complain() {
	echo "readme.sh: $*" >&2
	failed=1
}

# Options in a text: words of two dashes and letters. In a call, what follows
# " -- " belongs to the command that is launched.
options_in() {
	sed -E 's/(autofit.*) -- .*/\1/' "$1" |
		grep -oE -e '(^|[^[:alnum:]_-])--[a-z][a-z_-]*' |
		sed -E 's/^.*--//' | sort -u
}

"$AUTOFIT" --help >"$scratch/help"
"$AUTOFIT" estimate --help >"$scratch/help.estimate"
help_options() { # FILE...
	sed -nE 's/^ {2,6}(-[a-zA-Z], )?--([a-z-]+).*/\2/p' "$@" | sort -u
}
help_options "$scratch"/help* >"$scratch/options"
grep -qx max-micro "$scratch/options" || complain "--help shows no options"

for text in "${texts[@]}"; do
	while read -r option; do
		complain "$text: autofit has no --$option"
	done < <(options_in "$text" | grep -vxE "$others" |
		comm -23 - "$scratch/options")
done
while read -r option; do
	complain "docs/manual.md: --$option is missing"
done < <(help_options "$scratch/help" |
	comm -13 <(options_in docs/manual.md) -)
while read -r option; do
	complain "docs/estimate.md: --$option is missing"
done < <(help_options "$scratch/help.estimate" |
	comm -13 <(options_in docs/estimate.md) -)

# lines NAME: standard input into a list that must not be empty.
lines() {
	sort -u >"$scratch/$1"
	[ -s "$scratch/$1" ] || complain "found no $1 to look for"
}

sed -n '/^Sub-commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' "$scratch/help" |
	lines subcommands
sed -n '/^Exit codes:/,/^$/s/^ *\([0-9]\{1,\}\)  .*/\1/p' "$scratch/help" |
	lines codes
sed -n '/verdict_names\[\]/,/};/p' base/trial.c | grep -oE '"[a-z_]+"' |
	tr -d '"' | grep -vx none | lines verdicts
"$AUTOFIT" explain --device host --json - -- true --batch-size 8 |
	grep -oE '^ *"[a-z_]+":' | tr -d '": ' | lines keys

# Each stands in a table of the manual.
in_manual() {
	grep -qE "^\|.*\`$1[^a-z_]" docs/manual.md ||
		complain "docs/manual.md: no row for $1"
}
while read -r word; do
	in_manual "autofit $word"
	grep -qF "autofit $word" README.md || complain "README.md: no $word"
done <"$scratch/subcommands"
while read -r code; do
	for text in README.md docs/manual.md; do
		grep -qE "^\| *$code *\|" "$text" ||
			complain "$text: no row for exit code $code"
	done
done <"$scratch/codes"
while read -r word; do
	in_manual "$word"
done < <(cat "$scratch/verdicts" "$scratch/keys")

# The map of README: every folder, and only folders that are there.
find . -mindepth 1 -maxdepth 1 -type d ! -name '.*' ! -name 'build*' \
	-printf '%f/\n' | sort >"$scratch/folders"
# shellcheck disable=SC2016 # backquotes of Markdown
sed -nE 's/^\| `([a-z]+\/)` .*/\1/p' README.md | sort >"$scratch/map"
[ -s "$scratch/map" ] || complain "README.md: there is no map of folders"
while read -r folder; do
	complain "README.md: the map and the folders differ in $folder"
done < <(comm -3 "$scratch/map" "$scratch/folders" | tr -d '\t')

# Links to files.
for text in README.md docs/*.md; do
	while read -r link; do
		[ -e "$(dirname "$text")/${link%%#*}" ] ||
			complain "$text: nothing at $link"
	done < <(grep -oE '\]\([^)]+\)' "$text" | sed -E 's/^..(.*).$/\1/' |
		grep -v '^https\?:' || true)
done

[ "$(wc -l <README.md)" -le 150 ] || complain "README.md: over 150 lines"

# The project stands alone: no folder of one machine in any file of it.
foreign='(^|[^[:alnum:]_.})-])/(wo''rk|fa''rm)(/|[^[:alnum:]_-]|$)|\.\./sha''red'
find . \( -name '.git' -o -name 'build*' \) -prune -o -type f \
	-exec grep -nIE "$foreign" {} + >"$scratch/foreign" || true
[ ! -s "$scratch/foreign" ] ||
	complain "names of one machine:"$'\n'"$(cat "$scratch/foreign")"

exit "$failed"
