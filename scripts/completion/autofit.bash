# bash completion for autofit, as autofit --completion bash prints it
# shellcheck shell=bash

_autofit_command() # WHERE IT BEGINS
{
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif (($1 == COMP_CWORD)); then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_autofit_files -f
	fi
}

_autofit_files() # -f or -d
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

_autofit()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words=() at=() answer=() word i

	# A value with : or = in it is several words here; at tells where each
	# word of autofit's begins.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if [[ ${#at[@]} -gt 0 && ${COMP_WORDS[i]} == [:=]* ||
			${#at[@]} -gt 0 && ${COMP_WORDS[i - 1]} == [:=]* ]]; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
			at+=("$i")
		fi
	done
	[[ $cur != [:=]* ]] || cur=
	COMPREPLY=()
	mapfile -t answer < <("${COMP_WORDS[0]/#\~\//$HOME/}" --complete \
		"${words[@]}" 2>/dev/null)
	case ${answer[0]-} in
	files) _autofit_files -f ;;
	folders) _autofit_files -d ;;
	command*) _autofit_command "${at[${answer[0]#command }]}" ;;
	words)
		for word in "${answer[@]:1}"; do
			word=${word%%$'\t'*}
			[[ $word != "$cur"* ]] || COMPREPLY+=("$word")
		done
		;;
	esac
}

complete -F _autofit autofit
