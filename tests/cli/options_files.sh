#!/usr/bin/env bash
# Options from files of project, user and site; and what a wrong line starts.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

export AUTOFIT_SITE=$TMP/site
mkdir -p project "$AUTOFIT_HOME/config" "$AUTOFIT_SITE"
chmod -R go-w "$TMP"
cd project || exit 99
user=$AUTOFIT_HOME/config/autofit.ini
site=$AUTOFIT_SITE/autofit.ini

# files PROJECT USER SITE: what each says; "-" is no file.
files() {
	local file

	for file in .autofit.ini "$user" "$site"; do
		rm -f "$file"
		[ "$1" = - ] || printf '%b' "$1" >"$file"
		shift
	done
	# Whatever the umask of who runs this.
	chmod -f go-w .autofit.ini "$user" "$site"
}

budget() {
	run "$AUTOFIT" explain -- echo --batch-size 8
	sed -nE 's/^device .*budget ([0-9]+) MiB \(--memory\).*/\1/p' <<<"$out"
}

files 'device = host\nmemory = 101M\n' 'memory = 102M\n' 'memory = 103M\n'
is "the project's value" "$(budget)" 101
files - '[autofit]\nmemory = 102M\n' 'device = host\nmemory = 103M\n'
is "the user's" "$(budget)" 102
files - - 'device = host\nmemory = 103M\n'
is "the site's" "$(budget)" 103
files - 'device = host\n' -
is "none" "$(budget)" ''

# Whose value counts: the wrong ones of weaker places are not looked at.
wrong='max-micro = '
files "${wrong}a" "${wrong}b" "${wrong}c"
run "$AUTOFIT" devices
is "project first" "$status $err" \
	"125 autofit: error: .autofit.ini:1: max-micro: 'a' is not a whole number"
files - "\n${wrong}b" "${wrong}c"
run "$AUTOFIT" devices
like "then user" "$err" "^autofit: error: $user:2: max-micro: 'b' is not"
files - - "${wrong}c"
run "$AUTOFIT" devices
like "then site" "$err" "^autofit: error: $site:1: max-micro: 'c' is not"
files "${wrong}a" "${wrong}b" "${wrong}c"
AUTOFIT_MAX_MICRO=d run "$AUTOFIT" devices
like "a variable before all" "$err" "^autofit: error: AUTOFIT_MAX_MICRO: 'd'"
run "$AUTOFIT" --max-micro 8 devices
is "a flag before all" "$status $err" "0 "
AUTOFIT_MAX_MIRCO=d run "$AUTOFIT" --max-micro 8 devices
is "a slip in a variable" "$status $err" "0 autofit: warning: AUTOFIT_MAX_MIRCO \
is no variable of autofit's and changes nothing (did you mean AUTOFIT_MAX_MICRO?)"
AUTOFIT_MICRO=8 AUTOFIT_ACCUM=2 AUTOFIT_NIGHTLY=x AUTOFIT_VERSION=1 \
	AUTOFIT_PROJECT=x run "$AUTOFIT" --max-micro 8 devices
is "variables that are no slips" "$status $err" "0 "
run "$AUTOFIT" --version
is "--version needs no file" "$status" 0

files 'max-mirco = 8\n\033[31mred = 1\n' '[other]\nfresh = 1\n' -
run "$AUTOFIT" devices
is "what is unknown is told" "$err" \
	"autofit: warning: .autofit.ini:1: unknown option 'max-mirco' (did you \
mean max-micro?)
autofit: warning: .autofit.ini:2: unknown option '?[31mred'
autofit: warning: $user:2: unknown section [other]; options stand in [autofit]"
is "and nothing else comes of it" "$status" 0
run "$AUTOFIT" -q devices
is "not with -q" "$status $err" "0 "
files 'max-mirco = 8\n' 'quiet = yes\n' -
run "$AUTOFIT" devices
is "nor when a file says quiet" "$status $err" "0 "

files - - -
AUTOFIT_HOME=not/absolute run "$AUTOFIT" -q show
is "a wrong folder is not told before -q is known" "$status $err" "0 "

files "${wrong}a" - -
chmod a+w .autofit.ini
run "$AUTOFIT" devices
is "what others may write is not read" "$status" 0
like "and it is said" "$err" \
	"^autofit: warning: cannot use \.autofit\.ini: others may write to it"
rm -f .autofit.ini
mkfifo .autofit.ini
run timeout "$PATIENCE" "$AUTOFIT" devices
is "nothing waits for a pipe" "$status" 0
rm -f .autofit.ini

files "${wrong}a" "${wrong}b" "${wrong}c"
AUTOFIT_PROBE=00 run "$AUTOFIT" --memory 1G -- echo ran
is "inside a probe no file is read" "$status $out $err" "0 ran "

# What does something to a terminal, in seven bits or eight, is shown by number.
files 'max-micro = \233m\302\233any\033[31m\n' - -
run "$AUTOFIT" tune -- true --batch-size 4
is "a wrong value with escapes" "$status" 125
is "none comes through" "$(printf %s "$err" | LC_ALL=C tr -d '\n -~' | wc -c)" 0
like "each is shown" "$err" '\\x9bm\\xc2\\x9bany\?\[31m'
files 'max-micro = m\303\251any\n' - -
run "$AUTOFIT" tune -- true --batch-size 4
like "letters stay" "$err" 'm.*any'

# A wrong line, and --otherwise run: the command starts exactly as given.
files - - -
# shellcheck disable=SC2016 # the command expands it
run "$AUTOFIT" --otherwise run --memroy 8G -- sh -c 'echo "$0 $*"; exit 7' a 'b  c'
is "a wrong line starts its command" "$status $out" "7 a b  c"
is "after one line" "$err" \
	"autofit: unknown option --memroy; did you mean --memory?; starting the \
command as given (--otherwise run)"
AUTOFIT_OTHERWISE=run run "$AUTOFIT" --max-micro 0 -- echo ran
is "by variable" "$status $out" "0 ran"
AUTOFIT_OTHERWISE=run run "$AUTOFIT" --otherwise stop --max-micro 0 -- echo ran
is "stop is stronger there" "$status $out" "125 "
run "$AUTOFIT" --memroy 8G -- echo ran
is "without it nothing starts" "$status $out" "125 "
run "$AUTOFIT" tune --otherwise run --memroy 8G -- echo ran
is "nor in a tune" "$status $out" "125 "
run "$AUTOFIT" --otherwise run --dry-run --memroy 8G -- echo ran
is "nor in a dry run" "$status $out" "125 "
run "$AUTOFIT" --otherwise run --memroy 8G -- "$TMP/nothing"
is "a command that is not there" "$status" 127
files 'max-micro = many\n' - -
run "$AUTOFIT" --otherwise run -- echo ran
is "a wrong file" "$status $out" "0 ran"
files - - -

# The same process, with what it came in with.
# shellcheck disable=SC2016 # the command expands it
show='echo $$; sed -n "/^Sig[IB]/p" /proc/self/status; ls /proc/self/fd | wc -l
	env | grep -v "^_=" | sort'
(
	trap '' USR1
	echo "$BASHPID" >"$TMP/expected"
	sh -c "$show" | tail -n +2 >>"$TMP/expected"
	exec "$AUTOFIT" --otherwise run --bogus -- sh -c "$show" >"$TMP/got" \
		2>/dev/null
)
same "the same process, signals, descriptors, environment" \
	"$TMP/got" "$TMP/expected"

finish
