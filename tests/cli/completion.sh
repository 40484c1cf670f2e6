#!/usr/bin/env bash
# The shells complete autofit's words: options, values, records, the command.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
export TMP

# Words of the command, and files, by names that nothing else has.
mkdir -p "$TMP/bin" "$TMP/files/qqfolder"
ln -s "$AUTOFIT" "$TMP/bin/autofit"
printf '#!/bin/sh\n' >"$TMP/bin/qqprogram"
chmod +x "$TMP/bin/qqprogram"
touch "$TMP/files/qqfile"
PATH=$TMP/bin:$PATH
cd "$TMP/files" || exit 99

"$AUTOFIT" tune --quiet --device host --memory 128M --confirm-steps 5 -- \
	"$TRAINER" --batch-size 4 --per-sample-kib 1024 --steps 60 --step-ms 20 >/dev/null
record=$(basename "$AUTOFIT_HOME"/records/*.ini .ini)
check "there is a record to offer" test -e "$AUTOFIT_HOME/records/$record.ini"

options_of_help() {
	sed -nE 's/^ {2,6}(-[a-zA-Z], )?(--[a-z-]+).*/\2/p' | sort -u
}
options=$("$AUTOFIT" --help | options_of_help)
estimates=$("$AUTOFIT" estimate --help | options_of_help)
subcommands=$("$AUTOFIT" --help |
	sed -nE '/^Sub-commands:/,/^$/s/^  ([a-z]+) .*/\1/p' | sort -u)
like "the help has options to compare with" "$options" '^--max-micro$'
like "and sub-commands" "$subcommands" '^export$'
like "and options of one of them" "$estimates" '^--decoder-sequence$'

# What is to be offered: NAME, MODE, WANTED, then the words; the last one is
# at the cursor. all: exactly this; some: this among others; not: none of it.
table() { # SHELL
	local shell=$1

	row "$shell" all 'auto cuda host phantom:' --device ''
	row "$shell" all 'cuda' -q --device c
	row "$shell" all 'phantom:' tune --device ph
	row "$shell" all 'auto view landlock compare' --isolation ''
	row "$shell" all 'keep' --effective-batch ke
	row "$shell" all 'bisect guided' --strategy ''
	row "$shell" all 'torchtitan torchtitan-tokens torchtune' \
		--preset torcht
	row "$shell" all 'torchtitan torchtitan-tokens torchtune' presets torcht
	row "$shell" all 'stop run' --memory 8G --otherwise ''
	row "$shell" all 'qqfile qqfolder' --json qq
	row "$shell" all 'qqfile qqfolder' --allow-writes qq
	row "$shell" all 'qqfolder' --scratch qq
	row "$shell" all 'bash fish zsh' --completion ''
	row "$shell" all 'tune' t
	row "$shell" some 'explain' exp
	row "$shell" some 'qqprogram' qqp
	row "$shell" all "$record" show ''
	row "$shell" all "$record" --quiet lower ''
	row "$shell" all "$record" forget "${record:0:3}"
	formats='accelerate args axolotl cmd command config csv deepspeed dotenv'
	formats+=' env hf hydra json markdown record torchtune yaml'
	row "$shell" all "$formats" export ''
	row "$shell" all "$record" export json ''
	row "$shell" all 'qqfile qqfolder' import qq
	row "$shell" some '--grow' tune --gr
	row "$shell" all '--device --dry-run' --d
	row "$shell" all '--decoder-sequence' estimate --dec
	row "$shell" some 'qqprogram' -- qqp
	row "$shell" some 'qqprogram' tune --max-micro 8 -- qqp
	row "$shell" some 'qqprogram' devices --watch -- qqp
	row "$shell" not 'explain' -- exp
	row "$shell" some 'qqfile' -- qqprogram qqf
	row "$shell" some 'qqfile' qqprogram qqf
	row "$shell" not '--max-micro' qqprogram --max-m
	row "$shell" not '--max-micro' -- qqprogram --max-m
}

row() { # SHELL MODE WANTED WORDS...
	local shell=$1 mode=$2 wanted got name

	wanted=$(tr ' ' '\n' <<<"$3" | sort)
	shift 3
	name="$shell: autofit $*"
	got=$("offered_by_$shell" "$@" | sed 's|/$||' | sort -u)
	case $mode in
	all) is "$name" "$got" "$wanted" ;;
	some) is "$name" "$(comm -13 <(echo "$got") <(echo "$wanted"))" '' ;;
	not) is "$name" "$(comm -12 <(echo "$got") <(echo "$wanted"))" '' ;;
	esac
}

# Where "=" begins no word of its own, as it does in bash.
joined() { # SHELL
	row "$1" all 'auto cuda host phantom:' --device=
	row "$1" all 'cuda' --device=c
	row "$1" all 'qqfile qqfolder' tune --json=qq
	row "$1" all 'qqfolder' --scratch=qq
}

all_of() { # SHELL: every option and sub-command of the help
	is "$1: every option is offered" \
		"$("offered_by_$1" -- 2>/dev/null | grep -- '^--.' |
			sed 's/=$//' | sort -u)" "$options"
	is "$1: those of estimate behind its word" \
		"$("offered_by_$1" estimate -- 2>/dev/null | sort -u |
			comm -12 - <(echo "$estimates"))" "$estimates"
	is "$1: every sub-command is offered" \
		"$("offered_by_$1" '' | sort -u |
			comm -12 - <(echo "$subcommands"))" "$subcommands"
}

"$AUTOFIT" --completion bash >autofit.bash
check "bash reads its script" bash -n autofit.bash
cat >"$TMP/ask.bash" <<'EOS'
. ./autofit.bash
eval "${BEFORE-}"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
[ "$(complete -p autofit)" = "complete -F _autofit autofit" ] || exit
_autofit "$1" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf '%s\n' "${COMPREPLY[@]}"
EOS

offered_by_bash() {
	bash --norc "$TMP/ask.bash" autofit "$@"
}

table bash
all_of bash
# "=" and ":" are words of their own there.
row bash all 'auto cuda host phantom:' --device =
row bash all 'cuda' --device = c
row bash all "$record" --device cuda : 0 show ''
row bash all "$record" --env A = '{micro}' show ''
row bash all 'qqfile qqfolder' --env A = '{micro:8}' --json = qq
for name in _command_offset _comp_command_offset; do
	is "bash: $name completes the command" \
		"$(BEFORE="$name() { COMPREPLY=(\"from \$1\"); }" \
			offered_by_bash --grow -- qqprogram x)" "from 3"
done

if command -v fish >/dev/null; then
	"$AUTOFIT" --completion fish >autofit.fish
	check "fish reads its script" fish --no-config -n autofit.fish

	offered_by_fish() {
		# shellcheck disable=SC2016 # fish expands them
		fish --no-config -c '
			set -a fish_function_path $__fish_data_dir/functions
			source ./autofit.fish
			complete -C "autofit $argv"' -- "$@" | cut -f 1 |
			sed 's/^--[a-z-]*=//'
	}

	table fish
	joined fish
	all_of fish
else
	echo "left out: fish is not installed"
fi

if command -v zsh >/dev/null && zsh -fc 'zmodload zsh/zpty' 2>/dev/null; then
	mkdir "$TMP/functions"
	"$AUTOFIT" --completion zsh >"$TMP/functions/_autofit"
	check "zsh reads its script" zsh -n "$TMP/functions/_autofit"
	# An interactive shell on a terminal of its own; what is added to the
	# list of matches is written down. No key is typed, for those that
	# come while the shell is busy may be lost: the line completes itself
	# when it is there. The end is known by a file.
	cat >"$TMP/ask.zsh" <<'EOS'
zmodload zsh/zpty zsh/zselect
zpty asked zsh -f -i
zpty -w asked "source $TMP/asked.zsh"
repeat 3000; do
	[[ -e $TMP/end ]] && break
	zpty -r -t asked >/dev/null || zselect -t 2
done
zpty -d asked
EOS
	cat >"$TMP/asked.zsh" <<'EOS'
unset HISTFILE
setopt no_beep no_auto_list no_auto_menu
bindkey -e
fpath=($TMP/functions $fpath)
autoload -Uz compinit && compinit -u -D
complete_line() {
	BUFFER="autofit $ASKED"
	CURSOR=$#BUFFER
	zle complete-word
	touch $TMP/end
}
zle -N zle-line-init complete_line
compadd() {
	local -a got
	[[ " $* " == *" -"[OAD]" "* ]] || builtin compadd -O got "$@"
	(( $#got )) && print -rl -- "${(@)got%%=}" >>$TMP/matches
	builtin compadd "$@"
}
EOS

	offered_by_zsh() {
		rm -f "$TMP/matches" "$TMP/end"
		ASKED=$* zsh -f "$TMP/ask.zsh" >/dev/null 2>&1
		cat "$TMP/matches" 2>/dev/null
	}

	table zsh
	joined zsh
	all_of zsh
else
	echo "left out: zsh is not installed"
fi

finish
