# bash completion for autofit, as autofit --completion bash prints it
# shellcheck shell=bash

# The words as they were typed, for bash cuts them at "=" and ":". places: which
# of COMP_WORDS each begins with.
_autofit_join()
{
	local i word

	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 1)) && [[ $word == [=:]* ||
			${COMP_WORDS[i - 1]} == *[=:] ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word")
			places+=("$i")
		fi
	done
}

_autofit_more() # WHAT COMPGEN OFFERS
{
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$@" -- "$cur")
}

_autofit_command() # WHERE IT BEGINS
{
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif (($1 == COMP_CWORD)); then
		_autofit_more -c
	else
		compopt -o filenames 2>/dev/null
		_autofit_more -f
	fi
}

_autofit()
{
	local autofit=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]}
	local words=() places=() lines line

	COMPREPLY=()
	_autofit_join
	[[ $cur != [=:] ]] || cur=
	mapfile -t lines < <("$autofit" --complete "${words[@]}" 2>/dev/null)
	for line in "${lines[@]}"; do
		case $line in
		:command*) _autofit_command "${places[${line#:command } - 1]}" ;;
		:programs) _autofit_more -c ;;
		:record)
			_autofit_more -W "$("$autofit" show 2>/dev/null |
				sed -n '2,$s/^\([[:alnum:]._-]\{1,\}\).*/\1/p')"
			;;
		:file | :folder)
			compopt -o filenames 2>/dev/null
			if [ "$line" = :file ]; then _autofit_more -f; else _autofit_more -d; fi
			;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done
}

complete -F _autofit autofit
