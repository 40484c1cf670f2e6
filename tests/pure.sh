#!/bin/bash
# Pure files call nothing that reads or changes the world, and keep no state.
# SPDX-License-Identifier: MIT
#
# Pure are search/, estimator/, the folders named below, every file of another
# room whose header says so in its first line, and what those are cut into (named
# below too). What they call must be on a list here or be pure itself.
set -euo pipefail
: "${BUILD:?the build folder}" "${SOURCE:?the source folder}"

# Of all that is in them no header needs to say it.
pure_folders=(launcher/command)
# What a pure file is cut into.
more_pure=(options)
# It reads files, although its name begins as that of a pure one.
not_pure='options_files'

instruments='__(asan|ubsan|sanitizer)_.*|__stack_chk_fail|__assert_fail|_GLOBAL_OFFSET_TABLE_'
reads='(__)?(mem(cpy|move|set|cmp|chr)|str(n?(case)?cmp|len|chr|rchr))(_chk)?|basename'
math='(l?l?round|floor|ceil|trunc|f(abs|min|max|mod)|sqrt|exp2?|log|log2|log10|pow)'
names='(verdict|phase|coverage|steps_source)_(name|parse)'
# They write to structs of the caller, error_set its words.
facts='error_(set|prefix)|model_facts_(init|complete|set|check)|model_fields'
facts+='|model_family_(name|parse|has_words|has_decoder)'
strict="$instruments|$reads|$math|$names|$facts"

text='str[a-z]+|mem[a-z]+|__isoc(23|99)_str[a-z]+|to(lower|upper)|fnmatch'
text+='|__ctype_[a-z]+_loc|__errno_location|v?(sn|as)printf|qsort|bsearch'
text+='|__(str[a-z]+|mem[a-z]+|v?(sn|as)printf)_chk'
text+='|strtok_r|qsort_r|gmtime_r'
heap='free|x(malloc|calloc|realloc|grow|strn?dup|asprintf)'
base='(strlist|strbuf|span|error|utf8)_[a-z_]+|[a-z_]+_(parse|format|name)|amount_of'
# Of PCRE2: a text in, places in it out.
patterns='pattern_(make|free|match|group)|signatures_(match|pick)'
# Of config files: a text in, its values out.
settings='settings_(format_of|read|release|find_all|put|put_end|change|has_references)'
# A built-in preset, or launcher, is read from its text when it is first asked
# for.
presets='presets_(find|whole|read_all)|preset_knob|launchers_whole'
lenient="$strict|$text|$heap|$base|$patterns|$presets|argp_parse|ini_read"
# Cells in, aligned text out.
lenient+="|$settings|builtin_(files|find)|report_columns_print"
# Copied into a list of the caller's.
lenient+='|record_settings_add|probe_notes_trials'

fail() {
	echo "pure.sh: $*" >&2
	exit 1
}

# Lines "member symbol" of an archive, for the types of symbol given.
symbols() {
	nm -P "$1" 2>/dev/null | awk -v members="^($2)[.]c[.]o$" \
		-v besides="^($not_pure)[.]c[.]o$" -v types="$3" '
		/:$/ { member = $0; sub(/.*\[/, "", member)
		       sub(/\]:$/, "", member); next }
		member ~ members && member !~ besides && $2 ~ types {
			print member, $1 }'
}

# Lines "member symbol" of what can be written to: state between two calls.
state() {
	nm --format=sysv "$1" 2>/dev/null |
		awk -F'|' -v members="^($2)[.]c[.]o$" \
			-v besides="^($not_pure)[.]c[.]o$" '
		/^Symbols from/ { member = $0; sub(/.*\[/, "", member)
				  sub(/\]:$/, "", member); next }
		{ gsub(/ /, "") }
		member ~ members && member !~ besides && $7 ~ /^\.(bss|data|tbss|tdata)/ &&
		$7 !~ /^\.data\.rel\.ro/ && $1 !~ /^(__odr_asan|__unnamed|\.L)/ &&
		$4 == "OBJECT" { print member, $1 }'
}

# Print what is not pure: archive, members, allowed symbols, pure symbols.
judge() {
	symbols "$1" "$2" '^[Uw]$' |
		awk -v allowed="^($3)$" -v known="$4" '
		BEGIN { while ((getline name < known) > 0) pure[name] = 1 }
		!($2 in pure) && $2 !~ allowed { print $1, "calls", $2 }'
	state "$1" "$2" | sed 's/ / keeps state in /'
}

# A check that finds nothing must be known to find something.
check_itself() {
	local code='#include <time.h>
		#include <stdlib.h>
		static long calls;
		long pure(long a) { return a; }
		long clock_read(void) { return time(NULL); }
		long counted(void) { return ++calls; }
		void *owned(void) { return malloc(3); }'
	local found

	echo "$code" >"$scratch/planted.c"
	${CC:-cc} -c -o "$scratch/planted.c.o" "$scratch/planted.c"
	ar rcs "$scratch/planted.a" "$scratch/planted.c.o"
	echo pure >"$scratch/known"
	found=$(judge "$scratch/planted.a" planted "$lenient" "$scratch/known")
	[ "$found" = "planted.c.o calls malloc
planted.c.o calls time
planted.c.o keeps state in calls" ] || fail "blind to planted code: $found"
}

# The files of a room that are pure, as an expression for their names.
pure_files() {
	local header names="" name folder

	while read -r header; do
		head -n 1 "$header" | grep -qiw pure || continue
		name=$(basename "$header" .h)
		names+="$name(_[a-z_]+)?|"
	done < <(find "$SOURCE/$1" -name '*.h')
	for name in "${more_pure[@]}"; do
		names+="$name(_[a-z_]+)?|"
	done
	for folder in "${pure_folders[@]}"; do
		[[ $folder == "$1"/* ]] || continue
		while read -r name; do
			names+="$(basename "$name" .c)|"
		done < <(find "$SOURCE/$folder" -name '*.c')
	done
	echo "${names%|}"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check_itself

declare -A members=([search]='.*' [estimator]='.*')
for room in configs probes launcher; do
	members[$room]=$(pure_files "$room")
done
for room in "${!members[@]}"; do
	symbols "$BUILD/lib$room.a" "${members[$room]}" '^[TDRBVW]$' |
		cut -d' ' -f2
done >"$scratch/pure"
for room in "${!members[@]}"; do
	compgen -G "$SOURCE/$room/*.c" >/dev/null || continue
	# To its end: who writes into a closed pipe fails.
	ar t "$BUILD/lib$room.a" |
		grep -E "^(${members[$room]})[.]c[.]o$" >/dev/null ||
		fail "$room: nothing of it was checked"
	allowed=$lenient
	[[ $room =~ ^(search|estimator)$ ]] && allowed=$strict
	judge "$BUILD/lib$room.a" "${members[$room]}" "$allowed" \
		"$scratch/pure" | sed "s|^|$room/|"
done >"$scratch/bad"
[ ! -s "$scratch/bad" ] || fail "not pure:"$'\n'"$(cat "$scratch/bad")"
