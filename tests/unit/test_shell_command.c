/* Shell text in a command is taken apart, and written back with changes. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/shellquote.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/files/named_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define WORDS_MAX 10

/* One expansion with all it was made from. */
struct sample {
	struct strlist given, environment;
	struct named_files texts;
	struct shell_expansion expansion;
	struct error err;
	enum command_outcome outcome;
};

static void words_add(struct strlist *list, const char *const *words)
{
	for (; *words; words++)
		strlist_add(list, *words);
}

/* Of type named_files_read: whatever the path. */
static int sample_read(void *context, const char *path, struct strbuf *text)
{
	const char *script = context;

	(void)path;
	if (!script)
		return ENOENT;
	strbuf_adds(text, script);
	return 0;
}

static void sample_expand(struct sample *sample, size_t at, const char *script,
			  bool knows_environment)
{
	const struct shell_call call = {
		.argv = &sample->given,
		.at = at,
		.environment = knows_environment ? &sample->environment : NULL,
	};

	sample->texts.read = sample_read;
	sample->texts.context = (void *)(uintptr_t)script;
	sample->outcome = shell_command_expand(&sample->expansion, &call,
					       &sample->texts, &sample->err);
	assert_true(sample->texts.count <= NAMED_FILES_MAX);
}

static void sample_release(struct sample *sample)
{
	strlist_release(&sample->given);
	strlist_release(&sample->environment);
	named_files_release(&sample->texts);
	shell_expansion_release(&sample->expansion);
}

static void word_show(struct strbuf *out,
		      const struct shell_expansion *expansion, size_t index)
{
	static const char letters[] = { [WORD_ARGUMENT] = 'a',
					[WORD_SHELL_TEXT] = 't',
					[WORD_SCRIPT] = 's' };
	const struct word *word = &expansion->words[index];

	strbuf_addf(out, "%c%s%s:%s", letters[word->origin],
		    word->is_numbered ? "1" : "", word->is_opaque ? "?" : "",
		    expansion->argv.items[index]);
	if (word->variable)
		strbuf_addf(out, "{%s@%zu}", word->variable,
			    word->variable_offset);
	else if (word->variable_offset)
		strbuf_addf(out, "{@%zu}", word->variable_offset);
	assert_int_equal(word->line > 0, word->origin == WORD_SCRIPT);
}

/*
 * The words from the shell text on: origin, 1 for one that has a number, ? for
 * one that is not known, the word, {VARIABLE@offset}; > before the inner
 * command, ^ where arguments can be added.
 */
static void shell_expansion_show(struct strbuf *out,
				 const struct shell_expansion *expansion)
{
	const char *blank = "";

	strbuf_adds(out, "");
	for (size_t i = 0; i <= expansion->argv.count; i++) {
		bool is_word = i < expansion->argv.count;

		if (i == expansion->append_at) {
			strbuf_addf(out, "%s^", blank);
			blank = " ";
		}
		if (!is_word || expansion->words[i].end == 0)
			continue;
		strbuf_addf(out, "%s%s", blank,
			    i == expansion->inner ? "> " : "");
		word_show(out, expansion, i);
		blank = " ";
	}
	if (expansion->folder)
		strbuf_addf(out, " in [%s]", expansion->folder);
}

struct row {
	const char *command[WORDS_MAX];
	const char *script;
	const char *environment[4];
	const char *shown; /* or the message */
};

/* Nothing changed gives the given command, byte for byte. */
static void check_identity(const struct sample *sample)
{
	const struct strlist *flat = &sample->expansion.argv;
	struct new_word *words = xcalloc(flat->count + 1, sizeof(*words));
	struct strlist out = STRLIST_INIT;

	for (size_t i = 0; i < flat->count; i++)
		words[i] =
			(struct new_word){ .text = flat->items[i], .from = i };
	shell_rewrite_fold(&sample->expansion, &sample->given, words,
			   flat->count, &out);
	assert_true(strlist_equal(&out, &sample->given));
	strlist_release(&out);
	free(words);
}

static void check_row(const struct row *row, enum command_outcome outcome)
{
	struct sample sample = { .outcome = COMMAND_OK };
	struct strbuf out = STRBUF_INIT;

	words_add(&sample.given, row->command);
	words_add(&sample.environment, row->environment);
	sample_expand(&sample, 0, row->script, true);
	if (sample.outcome == COMMAND_OK) {
		shell_expansion_show(&out, &sample.expansion);
		check_identity(&sample);
	} else {
		strbuf_adds(&out, sample.err.message);
	}
	if (strcmp(strbuf_text(&out), row->shown) != 0)
		print_error("%s %s\n%s\n", row->command[0],
			    row->command[1] ? row->command[1] : "",
			    row->script ? row->script : row->command[2]);
	assert_string_equal(strbuf_text(&out), row->shown);
	assert_int_equal(sample.outcome, outcome);
	strbuf_release(&out);
	sample_release(&sample);
}

#define C(text)                                                                \
	{                                                                      \
		"bash", "-c", text                                             \
	}

static const struct row text_rows[] = {
	{ C("python t.py --bs 8"), .shown = "> t:python t:t.py t:--bs t:8 ^" },
	{ { "sh", "-lc", "python t.py" }, .shown = "> t:python t:t.py ^" },
	{ { "bash", "-ec", "python t.py" }, .shown = "> t:python t:t.py ^" },
	{ { "bash", "-o", "pipefail", "-c", "python t.py" },
	  .shown = "> t:python t:t.py ^" },
	{ { "/bin/bash", "--norc", "--rcfile", "x", "-euo", "pipefail", "-c",
	    "python t.py" },
	  .shown = "> t:python t:t.py ^" },
	{ { "bash", "-c", "-e", "+u", "--", "python t.py" },
	  .shown = "> t:python t:t.py ^" },
	{ { "zsh", "-c", "python t.py", "name" },
	  .shown = "> t:python t:t.py ^" },
	{ C("A=1 B='2 3' python t.py"),
	  .shown = "t:A=1 t:B=2 3 > t:python t:t.py ^" },
	{ C("exec python t.py"), .shown = "t:exec > t:python t:t.py ^" },
	{ C("A=1 exec -a x command nice -n 5 python t.py"),
	  .shown = "t:A=1 t:exec t:-a t:x t:command > t:nice t:-n t:5 "
		   "t:python t:t.py ^" },
	{ C("python > log t.py 2>&1 --bs 8 &>> x  # done"),
	  .shown = "> t:python t:t.py t:--bs t:8 ^" },
	{ C(" \n\tpython \\\n t.py ;\n # x"), .shown = "> t:python t:t.py ^" },
	{ C("python 't y' \"a\\\"b\" c\\ d '' \"\" e'f'\"g\" '$X' \"\\$X\""),
	  .shown = "> t:python t:t y t:a\"b t:c d t: t: t:efg t:$X t:$X ^" },
	{ C("python $'a\\tb\\'' \xc3\xa4 \xff"),
	  .shown = "> t:python t:a\tb' t:\xc3\xa4 t:\xff ^" },
	{ C("python t.py {micro} --x={accum:4} {a,b} {1..3} *.py a[0] m?"),
	  .shown = "> t:python t:t.py t:{micro} t:--x={accum:4} t?:{a,b} "
		   "t?:{1..3} t?:*.py t?:a[0] t?:m? ^" },
	{ C("python t.py --bs $BS --x=${BS} -b$BS \"$BS\"x 1$BS"),
	  .environment = { "BS=8" },
	  .shown = "> t:python t:t.py t:--bs t:8{BS@0} t:--x=8{BS@4} "
		   "t:-b8{BS@2} t:8x t:18 ^" },
	{ C("python t.py --bs ${BS:-4} --acc=${ACC-2}"),
	  .shown = "> t:python t:t.py t:--bs t:4{BS@0} t:--acc=2{ACC@6} ^" },
	{ C("python t.py ${BS:-4} ${BS-4}"), .environment = { "BS=" },
	  .shown = "> t:python t:t.py t:4{BS@0} ^" },
	{ C("python t.py $NONE \"$NONE\" a$NONE ${NONE:+--x y} ${BS:+--bs "
	    "$BS}"),
	  .environment = { "BS=2" },
	  .shown = "> t:python t:t.py t:{NONE@0} t:a{NONE@1} t:--bs "
		   "t:2{BS@0} ^" },
	{ C("python t.py $ARGS \"$ARGS\""), .environment = { "ARGS= --a  1 " },
	  .shown = "> t:python t:t.py t:--a t:1 t: --a  1 {ARGS@0} ^" },
	{ C("python t.py ${A%x} ${#A} $RANDOM $$ $((1+2)) ~/d ~ ~u a~"),
	  .environment = { "HOME=/h" },
	  .shown = "> t:python t:t.py t?:${A%x} t?:${#A} t?:$RANDOM t?:$$ "
		   "t:3 t:/h/d t:/h t?:~u t:a~ ^" },
	{ { "bash", "-c", "python t.py \"$@\" --z", "_", "--bs", "8", "" },
	  .shown = "> t:python t:t.py a:--bs a:8 a: t:--z ^" },
	{ { "bash", "-c", "exec \"$@\"", "_", "python", "t.py" },
	  .shown = "t:exec > a:python a:t.py ^" },
	{ { "bash", "-c", "python t.py --bs=$1 -n ${2:-7} ${3:-9} $0", "_", "8",
	    "6" },
	  .shown = "> t:python t:t.py a1:--bs=8{@5} t:-n a1:6 t:9 t?:$0 ^" },
	{ { "bash", "-c", "python t.py $1 x$1 $1 \"$@\" ${@:2}", "_", "8",
	    "6" },
	  .shown = "> t:python t:t.py a1:8 t:x8 t?:8 t?:8 a:6 t?:6 ^" },
	{ { "bash", "-c", "python $@", "_", "a b", "", "c", "*" },
	  .shown = "> t:python t?:a t?:b a:c t?:* ^" },
	{ { "bash", "-c", "python t.py \"$@\"" },
	  .shown = "> t:python t:t.py ^" },
	{ C("set -e; export A=1 B=\"$X\"\nsource x && mkdir -p y; python t.py"),
	  .environment = { "X=2" },
	  .shown = "t?:A=1 t?:B=\"$X\" > t:python t:t.py ^" },
	{ C("export A=1 B=${X:-3}; module load cuda; conda activate e && "
	    "C=4; python t.py --bs $C"),
	  .shown = "t:A=1 t:B=3{X@2} > t:python t:t.py t:--bs t:4 ^" },
	{ C("A=(--bs 8 '--name=a b'); python t.py \"${A[@]}\" ${A[1]} $A"),
	  .shown = "> t:python t:t.py t:--bs t:8 t:--name=a b t:8 t:--bs ^" },
	{ { "zsh", "-c", "A='a b'; python $A" },
	  .shown = "> t:python t:a b ^" },
	{ { "dash", "-c", "python t.py # $(x) `y` | z" },
	  .shown = "> t:python t:t.py ^" },
	{ C("\"$PYTHON\" t.py"), .environment = { "PYTHON=/usr/bin/python3" },
	  .shown = "> t:/usr/bin/python3{PYTHON@0} t:t.py ^" },
	{ C("env X=1 ./trainer 2>/dev/null"),
	  .shown = "> t:env t:X=1 t:./trainer ^" },
};

#define BS_SCRIPT(line) "BS=${BS:-4}\n" line "\n"

static const struct row script_rows[] = {
	{ { "bash", "t.sh" },
	  "if x; then A=4; fi\n[ -z \"$B\" ] || B=6\n"
	  "[ x ] && { true; } && C=1\npython t.py x$A x$B x$C",
	  { NULL },
	  "> s:python s:t.py s?:x$A s?:x$B s?:x$C" },
	/* An empty variable that decides what runs is not one to set. */
	{ { "bash", "t.sh" },
	  "M=${M:-''}\nif [ -n \"$M\" ]; then A=4; python a.py; "
	  "else python t.py x$A $M y${M:-8}; fi",
	  { NULL },
	  "> s:python s:t.py s:x{A@1} s:y8" },
	{ { "bash", "t.sh" },
	  "if [ -z \"$B\" ]; then B=4; C=4; fi\nM=''\n"
	  "if [[ -z \"$M\" ]]; then M=2; fi\npython t.py $B x$C $M",
	  { NULL },
	  "> s:python s:t.py s:4{B@0} s?:x$C s:2" },
	{ { "bash", "t.sh" },
	  "if [ -n \"$AUTOFIT_PROBE\" ]; then D=small; fi\npython t.py x$D",
	  { NULL },
	  "> s:python s:t.py s?:x$D" },
	{ { "bash", "t.sh" },
	  "if [ -n \"$M\" ]; then M=1; else M=8; fi\npython t.py $M",
	  { "M=a" },
	  "> s:python s:t.py s:1" },
	{ { "bash", "t.sh", "1" },
	  "A=(--x)\nA+=(--y \"$@\")\npython t.py \"${A[@]}\" --z",
	  { NULL },
	  "> s:python s:t.py s:--x s:--y a:1 ^ s:--z" },
	{ { "bash", "train.sh" },
	  "python t.py --bs 8\n",
	  .shown = "> s:python s:t.py s:--bs s:8" },
	{ { "sh", "./x.sh", "a" },
	  "python t.py --bs 8 \"$@\"",
	  .shown = "> s:python s:t.py s:--bs s:8 a:a ^" },
	{ { "./train.sh", "a", "b c" },
	  "#!/usr/bin/env bash\npython t.py $@ --bs 8",
	  .shown = "> s:python s:t.py a:a s:b s:c ^ s:--bs s:8" },
	{ { "./train.sh" },
	  "#!/bin/bash -e\n\nset -euo pipefail\n# x\nexec torchrun \\\n"
	  "  --nproc_per_node 2 \\\n\tt.py \"${@}\"",
	  .shown = "s:exec > s:torchrun s:--nproc_per_node s:2 s:t.py ^" },
	{ { "bash", "t.sh" },
	  BS_SCRIPT("python t.py --bs $BS"),
	  .shown = "> s:python s:t.py s:--bs s:4{BS@0}" },
	{ { "bash", "t.sh" },
	  BS_SCRIPT("python t.py --bs=\"$BS\""),
	  { "BS=16" },
	  "> s:python s:t.py s:--bs=16{BS@5}" },
	{ { "bash", "t.sh" },
	  "B=${BS-4}; python t.py $B",
	  { NULL },
	  "> s:python s:t.py s:4{BS@0}" },
	{ { "bash", "t.sh" },
	  ": \"${BS:=4}\"\npython t.py $BS",
	  { NULL },
	  "> s:python s:t.py s:4{BS@0}" },
	{ { "bash", "t.sh" },
	  ": ${BS=4}\npython t.py $BS",
	  { "BS=2" },
	  "> s:python s:t.py s:2{BS@0}" },
	{ { "bash", "t.sh" },
	  "export BS=${BS:-4}\npython t.py $BS",
	  { NULL },
	  "s:BS=4{BS@3} > s:python s:t.py s:4{BS@0}" },
	{ { "bash", "t.sh" },
	  "A=4\nB=x$A\npython t.py $A ${B}y",
	  { "A=9" },
	  "> s:python s:t.py s:4 s:x4y" },
	{ { "bash", "t.sh" },
	  "A=${X:-${Y:-4}}\npython t.py $A",
	  { "Y=5" },
	  "> s:python s:t.py s:5{X@0}" },
	{ { "bash", "t.sh", "7" },
	  "BS=${1:-8}\npython t.py $BS",
	  { NULL },
	  "> s:python s:t.py a1:7" },
	{ { "bash", "t.sh" },
	  "BS=${1:-8}\npython t.py $BS \"$@\"",
	  { NULL },
	  "> s:python s:t.py s:8" },
	{ { "bash", "t.sh", "7", "--z" },
	  "BS=$1\nshift\npython t.py --bs=$BS \"$@\"",
	  { NULL },
	  "> s:python s:t.py a1:--bs=7{@5} a:--z ^" },
	{ { "bash", "t.sh", "7" },
	  "shift 2\npython t.py \"$@\"",
	  { NULL },
	  "> s:python s:t.py" },
	{ { "bash", "t.sh", "7" },
	  "if [ $# -lt 1 ]; then exit 1; fi\npython t.py \"$@\"",
	  { NULL },
	  "> s:python s:t.py a:7" },
	{ { "bash", "t.sh", "7", "8" },
	  "EXTRA=\"$@\"\npython t.py $EXTRA",
	  { NULL },
	  "> s:python s:t.py a:7 a:8 ^" },
	{ { "bash", "t.sh", "7" },
	  "A=(--x \"$@\")\npython t.py \"${A[@]}\"",
	  { NULL },
	  "> s:python s:t.py s:--x a:7 ^" },
	{ { "bash", "t.sh" },
	  "A=(--x 8 # eight\n --y 'a b')\nA+=(--z)\npython t.py "
	  "\"${A[@]}\"",
	  { NULL },
	  "> s:python s:t.py s:--x s:8 s:--y s:a b s:--z" },
	{ { "bash", "t.sh" },
	  "A=(--x 8)\nif x; then A+=(--z); fi\npython t.py "
	  "\"${A[@]}\"",
	  { NULL },
	  "> s:python s:t.py s:--x s:8 s?:--z" },
	{ { "bash", "t.sh" },
	  "LAUNCHER=\"accelerate launch\"\nSCRIPT=t.py\nARGS=\"--a 1\n  --b\"\n"
	  "ARGS+=' --c'\n$LAUNCHER $SCRIPT $ARGS",
	  { NULL },
	  "> s:accelerate s:launch s:t.py s:--a s:1 s:--b s:--c" },
	{ { "bash", "t.sh" },
	  "A=1\nif [ -d y ]; then A=2; fi\npython t.py $A b$A",
	  { NULL },
	  "> s:python s:t.py s?:$A s?:b$A" },
	/* What a condition comes to, where no size can change it. */
	{ { "bash", "t.sh" },
	  "W=b\nif [ \"$W\" = a ]; then\n python a.py\n"
	  "elif [ \"$W\" == b ]; then\n python b.py\n"
	  "else\n python c.py\nfi",
	  { NULL },
	  "> s:python s:b.py" },
	{ { "bash", "t.sh" },
	  "stage=2\nstop=4\n"
	  "if [ $stage -le 1 ] && [ $stop -ge 1 ]; then python a.py; fi\n"
	  "if [ ${stage} -le 3 ] && [ ${stop} -ge 3 ]; then python b.py; fi\n",
	  { NULL },
	  "> s:python s:b.py" },
	{ { "bash", "t.sh" },
	  "W=b\nif [ $W = a ] || [ $W = b ]; then A=1; else A=2; fi\n"
	  "if [ $W = a ] || [ $W = c ]; then B=1; else B=2; fi\n"
	  "if [ $W = a ] && [ $W = c ] || [ $W = b ]; then C=1; else C=2; fi\n"
	  "if [ $W = a ] || [ -d x ]; then D=1; else D=2; fi\n"
	  "if [ -d x ] || [ $W = b ]; then E=1; else E=2; fi\n"
	  "python t.py $A $B $C $D $E",
	  { NULL },
	  "> s:python s:t.py s:1 s:2 s:1 s?:$D s:1" },
	{ { "bash", "t.sh" },
	  "W=b\nif ! [[ $W != b ]]; then A=1; else A=2; fi\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s:1" },
	{ { "bash", "t.sh" },
	  "W=b\ncase \"$W\" in\n a|c) python a.py;;\n 'b') python b.py;;\n"
	  " *) python c.py;;\nesac",
	  { NULL },
	  "> s:python s:b.py" },
	/* What comes behind a condition that is not known may run. */
	{ { "bash", "t.sh" },
	  "A=1\nif [ -d y ]; then A=2; elif [ x = x ]; then A=3; fi\n"
	  "python t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	/* Nor is one known that another size changes, or that is a pattern. */
	{ { "bash", "t.sh" },
	  "BS=8\nA=1\nif [ $BS -gt 4 ]; then A=2; fi\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	/* Numbers of other things are known; what follows from one that is
	 * written anew is read again. */
	{ { "bash", "t.sh", "8" },
	  "A=1\nif [ $1 = 8 ]; then A=2; fi\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s:2" },
	{ { "bash", "t.sh" },
	  "N=${N:-8}\nif [ $N -lt 8 ]; then A=$N; else A=${A:-8}; fi\n"
	  "python t.py $A",
	  { NULL },
	  "> s:python s:t.py s:8{A@0}" },
	{ { "bash", "t.sh", "3" },
	  "case $1 in 3) A=4;; *) A=2;; esac\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s:4" },
	{ { "bash", "t.sh" },
	  "W=b\nA=1\nif [[ $W == [ab] ]]; then A=2; fi\n"
	  "if [[ $W == a && $W == b ]]; then A=2; fi\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	/* A backslash at the end of a script goes on in no line. */
	{ { "bash", "t.sh" },
	  "python t.py --a \\\n  --seed=2 \\",
	  { NULL },
	  "> s:python s:t.py s:--a s:--seed=2" },
	/* A loop over one word runs once. */
	{ { "bash", "t.sh" },
	  "for x in \"a b\"; do\n  A=$x\n  python t.py --name \"$A\" "
	  "$x\ndone\n",
	  { NULL },
	  "> s:python s:t.py s:--name s:a b s:a s:b" },
	{ { "bash", "t.sh" },
	  "for x in 1; do for y in 2; do break; A=1; done; B=$x$y; done\n"
	  "for z in $B; do continue; python a.py; done\npython t.py $A $B",
	  { NULL },
	  "> s:python s:t.py s:12" },
	{ { "bash", "t.sh" },
	  "if [ -d y ]; then for x in 1; do A=$x; done; fi\n"
	  "for x in 1 2; do B=$x; done\nfor x in ${C:-3}; do D=$x; done\n"
	  "for x in *; do E=$x; done\npython t.py $A $B $D $E",
	  { NULL },
	  "> s:python s:t.py s?:$A s?:$B s?:$D s?:$E" },
	/* Of patterns those are known that have stars alone, none in quotes. */
	{ { "bash", "t.sh" },
	  "W=0,1\nif [[ $W != *\",\"* ]]; then A=1; else A=2; fi\n"
	  "if [[ \"$W\" == 0* ]]; then B=1; else B=2; fi\n"
	  "if [[ $W = *2 ]]; then C=1; else C=2; fi\n"
	  "if [[ $W == \"*\",1 ]]; then D=1; else D=2; fi\n"
	  "if [[ $W == *$1 ]]; then E=1; else E=2; fi\n"
	  "if [ $W = *1 ]; then F=1; else F=2; fi\n"
	  "python t.py $A $B $C $D $E $F",
	  { NULL },
	  "> s:python s:t.py s:2 s:1 s:2 s?:$D s?:$E s?:$F" },
	{ { "bash", "t.sh" },
	  "if [ -z \"$BS\" ]; then\n BS=4\nfi\npython t.py $BS",
	  { NULL },
	  "> s:python s:t.py s:4{BS@0}" },
	{ { "bash", "t.sh" },
	  "if [[ -n ${BS:-} ]]; then :; else BS=4; fi\npython t.py $BS",
	  { "BS=6" },
	  "> s:python s:t.py s:6{BS@0}" },
	{ { "bash", "t.sh" },
	  "[ -z \"$A\" ] && A=4\n[[ -n \"$B\" ]] || B=5\n[ -z $A ] || B=6\n"
	  "python t.py $A $B",
	  { NULL },
	  "> s:python s:t.py s:4{A@0} s?:$B" },
	{ { "bash", "t.sh" },
	  "if [ -z \"$A\" ] || [ x ]; then A=4; fi\n"
	  "if ! [ -z \"$B\" ]; then B=4; fi\npython t.py $A $B",
	  { NULL },
	  "> s:python s:t.py s?:$A s?:$B" },
	{ { "bash", "t.sh" },
	  "A=1\nfor A in 1 2; do B=$A; done\nwhile read C; do :; done < x\n"
	  "(( D = 4 ))\nE=1; E=2 true\n{ F=6; }\n( G=7 )\n"
	  "python t.py $A $B $C $D $E $F $G",
	  { NULL },
	  "> s:python s:t.py s?:$A s?:$B s?:$C s?:$D s:1 s:6 s?:$G" },
	{ { "bash", "t.sh" },
	  "[ x ] && { A=1; B=2; }\nC=3 || D=4\nE=5 && F=6\n"
	  "python t.py $A $B $C $D $E $F",
	  { NULL },
	  "> s:python s:t.py s?:$A s?:$B s:3 s?:$D s:5 s:6" },
	{ { "bash", "t.sh" },
	  "f() { A=1; }\nfunction g { B=2; }\nA=3\nB=4\nf\npython t.py $A $B",
	  { NULL },
	  "> s:python s:t.py s:1 s:4" },
	/* A loop over the arguments; what is left by a condition that is not
	 * known, or has another test, may have come to anything. */
	{ { "bash", "t.sh", "--a", "1", "2" },
	  "while [ $# -gt 0 ]; do\n case $1 in\n --a) A=$2; shift 2;;\n"
	  " *) B=$1; shift; continue;;\n esac\ndone\npython t.py x$A y$B",
	  { NULL },
	  "> s:python s:t.py s:x1 s:y2" },
	{ { "bash", "t.sh", "--a", "1" },
	  "A=3\nwhile [ -n \"$1\" ]; do\n if [ -f x ]; then break; fi\n"
	  " A=4\n shift\ndone\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	{ { "bash", "t.sh", "--a", "1" },
	  "A=3\nwhile [ -f x ]; do A=4; shift; done\npython t.py $A $1",
	  { NULL },
	  "> s:python s:t.py s?:$A s?:$1" },
	/* With arguments of its own it may do anything. */
	{ { "bash", "t.sh" },
	  "f() { A=$1; }\nA=3\nf 5\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	{ { "bash", "t.sh", "x" },
	  "f() { if [ \"$1\" = x ]; then B=1; else A=5; fi; }\nA=3\nB=4\n"
	  "f 5\npython t.py $A $B $1",
	  { NULL },
	  "> s:python s:t.py s?:$A s?:$B a1:x" },
	{ { "bash", "t.sh" },
	  "f() { A=$1; }\nA=3\nf\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	/* What it shifts are its own, and who left it early set less. */
	{ { "bash", "t.sh", "x", "y" },
	  "f() { shift; A=$1; }\nf \"$@\"\npython t.py $A $1",
	  { NULL },
	  "> s:python s:t.py a1:y a1:x" },
	{ { "bash", "t.sh" },
	  "f() { local A=4; }\nA=3\nf\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	{ { "bash", "t.sh" },
	  "f() { [ -f x ] && return; A=4; }\nA=3\nf\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	{ { "bash", "t.sh" },
	  "f() { if [ -f x ]; then return; fi; A=4; python t.py $A; }\nf\n",
	  { NULL },
	  "> s:python s:t.py s:4" },
	/* What a name stands for that is not known may be any of them. */
	{ { "bash", "t.sh" },
	  "f() { A=1; }\nA=3\n$X\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s:3" },
	{ { "bash", "t.sh" },
	  "f() { A=1; }\nA=3\nX=$(y)\n$X\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	/* What a function starts, behind all that it is called after. */
	{ { "bash", "t.sh", "--a" },
	  "train() {\n  python t.py --bs $BS \"$@\"\n}\n"
	  "main() { BS=8; train \"$@\"; return; python b.py; }\nmain \"$@\"\n",
	  { NULL },
	  "> s:python s:t.py s:--bs s:8 a:--a ^" },
	{ { "bash", "t.sh" },
	  "case $X in\n a|b) A=1;;\n (c) A=2 ;;\n *) A=3\nesac\n"
	  "case y in y) ;; esac\npython t.py $A",
	  { NULL },
	  "> s:python s:t.py s?:$A" },
	{ { "bash", "t.sh" },
	  "A=1\nunset A\nread B <<< x\nlocal C=3\ndeclare -i D=4\n"
	  "readonly E=5\nprintf -v F %d 6\npython t.py ${A:-9} $B $C $D $E $F",
	  { NULL },
	  "> s:python s:t.py s:9 s?:$B s:3 s?:$D s:5 s?:$F" },
	{ { "bash", "t.sh" },
	  "A=1\nsource env.sh\nB=2\npython t.py $A $B ${BS:-4}",
	  { "BS=3" },
	  "> s:python s:t.py s?:$A s:2 s?:${BS:-4}" },
	{ { "bash", "t.sh" },
	  "source venv/bin/activate\nsource ~/.bashrc\nmodule load cuda\n"
	  "eval \"$(conda shell.bash hook)\"\nconda activate x\n"
	  "ulimit -n 4096; trap 'kill 0' EXIT\nmkdir -p out; echo python a.py\n"
	  "python t.py ${BS:-4}",
	  { NULL },
	  "> s:python s:t.py s:4{BS@0}" },
	/* expr takes numbers, variables and signs as words of their own. */
	{ { "bash", "t.sh" },
	  "N=4\nM=2\npython t.py $(expr 16 / $N) `expr \"$N\" \\* 3 + ${M}` "
	  "$(expr 16/$N) $(expr N + 1) $(expr $N \"*\" 2) $(expr $N *) $(expr)",
	  { NULL },
	  "> s:python s:t.py s:4 s:14 s?:$(expr 16/$N) s?:$(expr N + 1) s:8 "
	  "s?:$(expr $N *) s?:$(expr)" },
	/* What is known of what a command prints. */
	{ { "bash", "t.sh" },
	  "G=\"0,1,2\"\nN=$(echo $G | awk -F \",\" '{print NF}')\n"
	  "$(which python) t.py $N `echo \"${G}\" | awk -F, '{print NF}'` "
	  "$((12 / N)) $(echo $H | awk -F, '{print NF}') "
	  "$(echo $G$G | awk -F, '{print NF}') $(which $X) $(command -v a b)",
	  { NULL },
	  "> s:python s:t.py s:3 s:3 s:4 s?:$(echo $H | awk -F, '{print NF}') "
	  "s?:$(echo $G$G | awk -F, '{print NF}') s?:$(which $X) "
	  "s?:$(command -v a b)" },
	/* What eval reads again makes the same words. */
	{ { "bash", "t.sh", "--x", "1" },
	  "BS=8\nCMD=\"python t.py --bs ${BS} $@\"\necho $CMD\neval $CMD",
	  { NULL },
	  "> s:python s:t.py s:--bs s:8 s:--x a:1 ^" },
	{ { "bash", "t.sh" },
	  "CMD='python t.py --bs 8'\neval \"${CMD}\" --lr 1",
	  { NULL },
	  "> s:python s:t.py s:--bs s:8 s:--lr s:1" },
	{ { "bash", "t.sh" },
	  "IFS=,\nA=1,2\npython t.py $A \"$A\"",
	  { NULL },
	  "> s:python s:t.py s?:1,2 s:1,2" },
	{ { "bash", "t.sh" },
	  "cat <<EOF > x\npython a.py 'it\nEOF\npip install x\n"
	  "python -m pip install y\npython --version\nnvidia-smi\n"
	  "python t.py > log 2>&1",
	  { NULL },
	  "> s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "./prepare && mkdir x || exit 1\nnohup python t.py 2>&1 | tee log",
	  { NULL },
	  "> s:nohup s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "python t.py &\nPID=$!\nwait $PID",
	  { NULL },
	  "> s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "if ! python t.py; then\necho bad; fi",
	  { NULL },
	  "> s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "exec python t.py\npython other.py",
	  { NULL },
	  "s:exec > s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "( cd x; ./own_trainer -b 4 )",
	  { NULL },
	  "> s:./own_trainer s:-b s:4 in [x]" },
	{ { "bash", "a/t.sh" },
	  "cd \"$(dirname \"$0\")\"/..\npython t.py",
	  { NULL },
	  "> s:python s:t.py in [a/..]" },
	{ { "bash", "a/t.sh" },
	  "cd /x; cd y\ncd \"$Z/w\"\npython t.py",
	  { "Z=z" },
	  "> s:python s:t.py in [/x/y/z/w]" },
	{ { "bash", "a/t.sh" },
	  "cd /x; cd $(git x)\npython t.py",
	  { NULL },
	  "> s:python s:t.py in []" },
	{ { "bash", "a/t.sh" },
	  "D=$( cd -- \"$( dirname -- \"${BASH_SOURCE[0]}\" )\" &> /dev/null "
	  "&& pwd )\nE=$(cd `dirname $0`/..; pwd)\nF=$(dirname $(readlink -f "
	  "\"$0\"))\npython $D/t.py $F $(pwd) $PWD/x `date`",
	  { "PWD=/w" },
	  "> s:python s:/w/a/t.py s:a s:/w s:/w/x s?:`date`" },
	{ { "bash", "t.sh" },
	  "export A=1 B\nB=2\nexport D=$(x)\npython t.py",
	  { NULL },
	  "s:A=1 s:B=2 s?:D=$(x) > s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "CUDA_VISIBLE_DEVICES=0 A=\"$1\" python t.py",
	  { NULL },
	  "s:CUDA_VISIBLE_DEVICES=0 s:A= > s:python s:t.py" },
	{ { "zsh", "t.sh" },
	  "A=(a 'b c')\npython $A",
	  { NULL },
	  "> s:python s:a s:b c" },
	{ { "bash", "t.sh" },
	  "A=$B$B\nSTEPS=$((2*3))\npython t.py --s $STEPS ${NONE:?no}",
	  { NULL },
	  "> s:python s:t.py s:--s s:6 s?:${NONE:?no}" },
	{ { "bash", "t.sh" },
	  "A=7 B=$N\nC=$((A / B))\npython $((A%B)) $(( ($A+1)*${B} - C ))-x "
	  "p$((B*B)) $((A-B-C)) $((1 - A)) $((0))",
	  { "N=2" },
	  "> s:python s:1 s:13-x s:p4 s:2 s:-6 s:0" },
	{ { "bash", "t.sh" },
	  "A=7 B=$N\nC=$[$A/($B*1)]\npython $[A%B] \"$[C+1]\" $[A[0]] $[]",
	  { "N=2" },
	  "> s:python s:1 s:4 s?:$[A[0]] s?:$[]" },
	{ { "bash", "t.sh" },
	  "A=7 X=a Y=010\npython $((A/0)) $((A**2)) $((A<2)) $((NONE+1)) "
	  "$((A++)) $((X)) $((Y)) $((-A)) $((A)b) $((A, 2)) $(()) "
	  "$((999999999999999999*99)) $((RANDOM%2))",
	  { NULL },
	  "> s:python s?:$((A/0)) s?:$((A**2)) s?:$((A<2)) s?:$((NONE+1)) "
	  "s?:$((A++)) s?:$((X)) s?:$((Y)) s?:$((-A)) s?:$((A)b) "
	  "s?:$((A, 2)) s?:$(()) s?:$((999999999999999999*99)) "
	  "s?:$((RANDOM%2))" },
	{ { "bash", "t.sh" },
	  "srun -n1 hostname\nsrun -n 2 python t.py",
	  { NULL },
	  "> s:srun s:-n s:2 s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "python -c 'import x'\ncommand -v python\n"
	  "time python t.py",
	  { NULL },
	  "> s:time s:python s:t.py" },
	{ { "bash", "t.sh", "1" },
	  "python a.py --epochs 8\npython t.py --bs \"$@\"\npython b.py x=2",
	  { NULL },
	  "> s:python s:t.py s:--bs a:1 ^" },
	{ { "bash", "t.sh" },
	  "python a.py --eval-batch-size 8\npython t.py train.batch_size=8",
	  { NULL },
	  "> s:python s:t.py s:train.batch_size=8" },
	{ { "bash", "t.sh" },
	  "./a --bs 8\npython t.py",
	  { NULL },
	  "> s:python s:t.py" },
	{ { "bash", "t.sh" },
	  "python \xff\xc3\xa4.py\n",
	  { NULL },
	  "> s:python s:\xff\xc3\xa4.py" },
	{ { "bash", "t.sh", "1", "2" },
	  "while [ $# -gt 0 ]; do case $1 in --b) B=$2; shift 2;; *) A+=($1); "
	  "shift;; esac; done\npython t.py --b $B \"${A[@]}\" \"$@\"",
	  { NULL },
	  "> s:python s:t.py s:--b a1:1 a1:2" },
	{ { "bash", "t.sh", "1" },
	  "set -- a \"$@\"\npython t.py \"$@\"",
	  { NULL },
	  "> s:python s:t.py s?:$@" },
	{ { "bash", "t.sh", "1" },
	  "for x in \"$@\"; do echo $x; done\npython t.py \"$@\"",
	  { NULL },
	  "> s:python s:t.py a:1" },
};

static void texts_are_taken_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(text_rows); i++)
		check_row(&text_rows[i], COMMAND_OK);
}

static void scripts_are_taken_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(script_rows); i++)
		check_row(&script_rows[i], COMMAND_OK);
}

#define HOLDS(what)                                                            \
	"the text after bash -c holds " what ", not just one command: write "  \
	"{micro} where the micro-batch belongs in it, or put the training "    \
	"command itself after --"
#define INSTEAD ": put the training command itself after --"
#define INSIDE                                                                 \
	": write autofit -- in front of it in the script, or put it alone "    \
	"after --"
#define SEVERAL                                                                \
	"the text after bash -c holds several commands: put the one that "     \
	"trains after --, without bash -c, or write {micro} where the "        \
	"micro-batch belongs in it"

static const struct row unknown_rows[] = {
	{ C("python t.py | tee log"), .shown = HOLDS("a pipe (|)") },
	{ C("python t.py |& tee log"), .shown = HOLDS("a pipe (|)") },
	{ C("python t.py || true"), .shown = HOLDS("||") },
	{ C("python t.py &"),
	  .shown = HOLDS("a command in the background (&)") },
	{ C("python $(x).py"), .shown = HOLDS("another command in $( )") },
	{ C("python \"`x`\""),
	  .shown = HOLDS("another command in backquotes (`)") },
	{ C("python < <(x)"),
	  .shown = HOLDS("another command in <( ) or >( )") },
	{ C("python <<E\nE"), .shown = HOLDS("a here-document (<<)") },
	{ C("(python t.py)"), .shown = HOLDS("a subshell ( )") },
	{ C("{ python t.py; }"), .shown = HOLDS("{") },
	{ C("for x in 1; do python t.py; done"), .shown = HOLDS("for") },
	{ C("if true; then python t.py; fi"), .shown = HOLDS("if") },
	{ C("[ -f x ] && python t.py"), .shown = HOLDS("a condition") },
	{ C("f() { python t.py; }; f"), .shown = HOLDS("a function") },
	{ C("python t.py; echo done"), .shown = SEVERAL },
	{ C("python a.py && python b.py"), .shown = SEVERAL },
	{ C("./prepare\npython b.py"), .shown = SEVERAL },
	{ C("python t.py; A=1"), .shown = SEVERAL },
	{ C("cd x && python t.py"),
	  .shown = "the text after bash -c holds cd: the files that the "
		   "command names cannot be found from here: start autofit in "
		   "that folder, and leave cd out" },
	{ C(""), .shown = "the text after bash -c starts no command" INSTEAD },
	{ C("A=1 # x"),
	  .shown = "the text after bash -c starts no command" INSTEAD },
	{ C("$NONE"),
	  .shown = "the text after bash -c starts no command" INSTEAD },
	{ C("$RANDOM x"),
	  .shown = "which program the text after bash -c starts cannot be "
		   "told" INSTEAD },
	{ C("python 'x"),
	  .shown = "the text after bash -c cannot be read: a single quote (') "
		   "is never closed" },
	{ C("python x\r\n"),
	  .shown = "the text after bash -c has Windows line ends (CR LF), "
		   "which a shell takes for part of the words: remove them, as "
		   "sed -i 's/\\r$//' does" },
	{ { "bash", "-x#c", "python" },
	  .shown = "bash: the option -x#c is not understood" INSTEAD },
	{ { "bash", "-n", "x.sh" },
	  .shown = "bash: the option -n is not understood" INSTEAD },
	{ { "bash", "--version" },
	  .shown = "bash: the option --version is not understood" INSTEAD },
	{ { "bash", "t.sh" },
	  "",
	  .shown = "t.sh: no line of it starts a training" INSTEAD },
	{ { "bash", "t.sh" },
	  "echo python t.py\nexit 0\npython t.py",
	  .shown = "t.sh: no line of it starts a training" INSTEAD },
	{ { "bash", "t.sh" },
	  "python a.py\n\npython b.py\npython c.py",
	  .shown = "t.sh: lines 1 and 3 both start a program, and which of "
		   "them trains cannot be told" INSIDE },
	{ { "bash", "t.sh" },
	  "cd x\npython a.py; python b.py",
	  .shown = "t.sh:2: two programs are started here, and which of them "
		   "trains cannot be told" INSIDE },
	{ { "bash", "t.sh" },
	  "python a.py --bs 8\npython b.py\npython c.py grad_accum=2",
	  .shown = "t.sh: lines 1 and 3 both start a program, and which of "
		   "them trains cannot be told" INSIDE },
	{ { "bash", "t.sh" },
	  "./a\n./b",
	  .shown = "t.sh: lines 1 and 2 both start a program, and which of "
		   "them trains cannot be told" INSIDE },
	{ { "bash", "t.sh" },
	  "for i in 1 2; do\npython a.py\ndone",
	  .shown = "t.sh:2: the training is started in a loop, so it may run "
		   "not at all or many times" INSIDE },
	{ { "bash", "t.sh" },
	  "if true; then\npython a.py\nfi",
	  .shown = "t.sh:2: the training is started under a condition, so it "
		   "may run not at all or many times" INSIDE },
	{ { "bash", "t.sh" },
	  "f() {\n [ x ]; python a.py $1; }\nf 1",
	  .shown = "t.sh:2: the training is started in a function, so it may "
		   "run not at all or many times" INSIDE },
	{ { "bash", "t.sh" },
	  "[ -f x ] && python a.py",
	  .shown = "t.sh:1: the training is started under a condition, so it "
		   "may run not at all or many times" INSIDE },
	{ { "bash", "t.sh" },
	  "mkdir x || { true; python a.py; }",
	  .shown = "t.sh:1: the training is started under a condition, so it "
		   "may run not at all or many times" INSIDE },
	{ { "bash", "t.sh" },
	  "wait\n( python a.py ) &\necho x",
	  .shown = "t.sh:2: the training is started in the background (&) and "
		   "nothing waits for it" INSIDE },
	{ { "sh", "t.sh" },
	  "python a.py &> log",
	  .shown = "t.sh:1: the training is started in the background (&) and "
		   "nothing waits for it" INSIDE },
	{ { "bash", "t.sh" },
	  "CMD=$(x)\neval \"$CMD\"",
	  .shown = "t.sh:2: which program is started here cannot be told from "
		   "the script" INSTEAD },
	{ { "bash", "t.sh" },
	  "CMD='python t.py --bs 8 | tee x'\neval $CMD",
	  .shown = "t.sh:2: which program is started here cannot be told from "
		   "the script" INSTEAD },
	{ { "bash", "t.sh" },
	  "x\n\"a\nb",
	  .shown = "t.sh:2: a double quote (\") is never closed" },
	{ { "bash", "t.sh" },
	  "\nif x; then\npython a.py",
	  .shown = "t.sh:2: what begins here never ends" INSTEAD },
	{ { "bash", "t.sh" },
	  "x\nfi",
	  .shown = "t.sh:2: a word that ends something ends nothing "
		   "here" INSTEAD },
	{ { "bash", "t.sh" },
	  "case a b",
	  .shown = "t.sh:1: case is not understood here" INSTEAD },
	{ { "bash", "t.sh" },
	  "#!/bin/bash\r\npython t.py\r\n",
	  .shown = "t.sh has Windows line ends (CR LF), which a shell takes "
		   "for part of the words: remove them, as sed -i 's/\\r$//' "
		   "does" },
	{ { "./t.sh" },
	  "#!/usr/bin/env -S python3 -u\nimport x",
	  .shown = "./t.sh is a script of python3, not of a shell" INSTEAD },
};

static void what_is_more_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(unknown_rows); i++)
		check_row(&unknown_rows[i], COMMAND_NOT_RECOGNISED);
}

static void other_outcomes(void **state)
{
	static const struct {
		struct row row;
		enum command_outcome outcome;
	} rows[] = {
		{ { { "bash" },
		    .shown = "bash reads its script from standard input, which "
			     "only one probe could do: write it to a file" },
		  COMMAND_REFUSED },
		{ { { "sh", "-s", "a" },
		    .shown = "sh reads its script from standard input, which "
			     "only one probe could do: write it to a file" },
		  COMMAND_REFUSED },
		{ { { "bash", "-e", "/dev/fd/63" },
		    .shown = "bash reads its script from standard input, which "
			     "only one probe could do: write it to a file" },
		  COMMAND_REFUSED },
		{ { { "bash", "-ec" },
		    .shown = "bash -c names no text: there is nothing to "
			     "start" },
		  COMMAND_UNREADABLE },
		{ { { "bash", "t.sh" },
		    .shown = "cannot read the script t.sh: No such file or "
			     "directory" },
		  COMMAND_UNREADABLE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check_row(&rows[i].row, rows[i].outcome);
}

static void nothing_known_of_the_environment(void **state)
{
	struct sample sample = { .outcome = COMMAND_OK };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	words_add(&sample.given,
		  (const char *const[]){ "nice", "bash", "t.sh", NULL });
	sample_expand(&sample, 1,
		      "A=${A:-1}\n: ${B:=2}\npython t.py $A $B $C ${D-4}",
		      false);
	assert_int_equal(sample.outcome, COMMAND_OK);
	assert_string_equal(sample.expansion.script, "t.sh");
	assert_int_equal(sample.expansion.inner, 3);
	assert_string_equal(sample.expansion.argv.items[0], "nice");
	shell_expansion_show(&out, &sample.expansion);
	assert_string_equal(strbuf_text(&out),
			    "> s:python s:t.py s:1{A@0} s:2{B@0} s?:$C "
			    "s:4{D@0}");
	strbuf_release(&out);
	sample_release(&sample);
}

static void a_script_with_nul_bytes(void **state)
{
	struct sample sample = { .outcome = COMMAND_OK };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_add(&text, "python\0 t.py", 12);
	words_add(&sample.given, (const char *const[]){ "bash", "t.sh", NULL });
	named_files_add(&sample.texts, "t.sh", &text, 0);
	sample_expand(&sample, 0, NULL, true);
	assert_int_equal(sample.outcome, COMMAND_NOT_RECOGNISED);
	assert_string_equal(sample.err.message,
			    "t.sh holds NUL bytes: no shell reads it");
	sample_release(&sample);
}

static void too_many_files(void **state)
{
	struct sample sample = { .outcome = COMMAND_OK };

	(void)state;
	for (int i = 0; i < NAMED_FILES_MAX; i++) {
		char *path = xasprintf("%d", i);

		named_files_add(&sample.texts, path, NULL, 0);
		free(path);
	}
	words_add(&sample.given, (const char *const[]){ "bash", "t.sh", NULL });
	sample_expand(&sample, 0, NULL, true);
	assert_int_equal(sample.outcome, COMMAND_NOT_RECOGNISED);
	assert_string_equal(sample.err.message,
			    "the command names more than 32 files to read");
	sample_release(&sample);
}

/* What is done to the words that read so. */
struct edit {
	const char *word;
	const char *now;   /* NULL: dropped */
	const char *after; /* a new word behind it; NULL: none */
};

struct fold_row {
	const char *command[WORDS_MAX];
	const char *script;
	struct edit edits[4];
	bool appends; /* "--new" "n" at append_at */
	const char *folded[WORDS_MAX + 2];
};

static const struct fold_row fold_rows[] = {
	{ C("python t.py --bs 8  --lr \"1e-4\""),
	  NULL,
	  { { "8", "16", NULL } },
	  false,
	  C("python t.py --bs 16  --lr \"1e-4\"") },
	{ C("python t.py --bs=\"8\" 'a b' # x"),
	  NULL,
	  { { "--bs=8", "--bs=16", NULL }, { "a b", "it's", NULL } },
	  false,
	  C("python t.py --bs=16 'it'\\''s' # x") },
	{ C("python t.py --resume  \\\n x --bs 8 >log"),
	  NULL,
	  { { "--resume", NULL, NULL }, { "x", NULL, NULL } },
	  true,
	  C("python t.py --bs 8 --new n >log") },
	{ C("python t.py --x 8 a>log"),
	  NULL,
	  { { "a", NULL, NULL } },
	  false,
	  C("python t.py --x 8 >log") },
	{ C("A=8;python t.py --x \"$A\">log"),
	  NULL,
	  { { "8", "16", NULL } },
	  false,
	  C("A=8;python t.py --x '16'>log") },
	{ C("python t.py a>log"),
	  NULL,
	  { { "a", "a", "4" } },
	  true,
	  C("python t.py a 4 --new 'n'>log") },
	{ C("A=\"--x 8 --y\"\npython t.py $A --z"),
	  NULL,
	  { { "8", "16", NULL }, { "--y", NULL, NULL } },
	  false,
	  C("A=\"--x 8 --y\"\npython t.py --x 16 --z") },
	{ C("A=(--x 8); python t.py \"${A[@]}\" --z"),
	  NULL,
	  { { "--x", NULL, NULL }, { "8", NULL, NULL } },
	  false,
	  C("A=(--x 8); python t.py --z") },
	{ C("BS={micro} X=\"a b\" python t.py {micro:8}"),
	  NULL,
	  { { "BS={micro}", "BS=16", NULL },
	    { "X=a b", "X=c d", NULL },
	    { "{micro:8}", "16", NULL } },
	  false,
	  C("BS=16 X='c d' python t.py 16") },
	{ C("export B=2 A=1; export B=3; python t.py"),
	  NULL,
	  { { "A=1", "A=4", NULL }, { "B=3", NULL, NULL } },
	  true,
	  C("export B=2 A=4; export B=3; python t.py --new n") },
	{ C("exec torchrun t.py --bs 8"),
	  NULL,
	  { { "torchrun", "torchrun", "--master_port=1" } },
	  false,
	  C("exec torchrun --master_port=1 t.py --bs 8") },
	{ { "bash", "-c", "python t.py \"$@\" > x", "_", "--bs", "8", "r" },
	  NULL,
	  { { "8", "16 it", NULL }, { "r", NULL, NULL } },
	  true,
	  { "bash", "-c", "python t.py \"$@\" > x", "_", "--bs", "16 it",
	    "--new", "n" } },
	{ { "bash", "-c", "python t.py --bs=$1 \"$2\"", "_", "8", "r" },
	  NULL,
	  { { "--bs=8", "--bs=16", "b" }, { "r", NULL, NULL } },
	  true,
	  { "bash", "-c", "python t.py --bs=$1 \"$2\" b --new n", "_", "16",
	    "r" } },
	{ { "bash", "-c", "A=(\"$@\" --x 8); python t.py \"${A[@]}\"", "_",
	    "a b" },
	  NULL,
	  { { "8", "16", NULL } },
	  false,
	  { "bash", "-c", "A=(\"$@\" --x 8); python t.py 'a b' --x 16", "_",
	    "a b" } },
	{ { "nice", "bash", "-c", "python t.py" },
	  NULL,
	  { { "nice", "nice", "-5" } },
	  true,
	  { "nice", "-5", "bash", "-c", "python t.py --new n" } },
	{ { "zsh", "-c", "python t.py =x" },
	  NULL,
	  { { "=x", "=y", NULL } },
	  false,
	  { "zsh", "-c", "python t.py '=y'" } },
	{ { "bash", "t.sh", "--bs", "8" },
	  "python t.py --lr 1 \"$@\"",
	  { { "8", "16", NULL }, { "--lr", NULL, NULL }, { "1", "2", NULL } },
	  true,
	  { "bash", "t.sh", "--bs", "16", "--new", "n" } },
	{ { "bash", "t.sh" },
	  "python t.py \"$@\"",
	  { { NULL, NULL, NULL } },
	  true,
	  { "bash", "t.sh", "--new", "n" } },
	{ { "./t.sh", "8", "--a", "x" },
	  "B=$1; shift\npython t.py $B --lr 1 \"$@\"",
	  { { "8", NULL, NULL }, { "--a", NULL, "b" } },
	  true,
	  { "./t.sh", "8", "b", "x", "--new", "n" } },
	{ { "./t.sh", "8" },
	  "python t.py --bs=$1",
	  { { "--bs=8", "--bs=16", "lost" } },
	  false,
	  { "./t.sh", "16" } },
};

static void add_new(struct new_word *words, size_t *count, const char *text)
{
	words[(*count)++] = (struct new_word){ .text = text, .from = NO_INDEX };
}

static const struct edit *edit_of(const struct fold_row *row, const char *word)
{
	for (size_t i = 0; i < COUNT(row->edits); i++)
		if (row->edits[i].word && strcmp(row->edits[i].word, word) == 0)
			return &row->edits[i];
	return NULL;
}

static void edit_words(const struct fold_row *row,
		       const struct shell_expansion *expansion,
		       struct new_word *words, size_t *count)
{
	for (size_t i = 0; i <= expansion->argv.count; i++) {
		const char *word = expansion->argv.items[i];
		const struct edit *edit;

		if (row->appends && i == expansion->append_at) {
			add_new(words, count, "--new");
			add_new(words, count, "n");
		}
		if (!word)
			break;
		edit = edit_of(row, word);
		if (edit)
			word = edit->now;
		if (word)
			words[(*count)++] =
				(struct new_word){ .text = word, .from = i };
		if (edit && edit->after)
			add_new(words, count, edit->after);
	}
}

static void changes_are_folded(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fold_rows); i++) {
		const struct fold_row *row = &fold_rows[i];
		bool is_nice = strcmp(row->command[0], "nice") == 0;
		struct sample sample = { .outcome = COMMAND_OK };
		struct strlist out = STRLIST_INIT;
		struct strlist folded = STRLIST_INIT;
		struct new_word words[64];
		size_t count = 0;

		words_add(&sample.given, row->command);
		words_add(&folded, row->folded);
		sample_expand(&sample, is_nice, row->script, true);
		if (sample.outcome != COMMAND_OK)
			print_error("row %zu: %s\n", i, sample.err.message);
		assert_int_equal(sample.outcome, COMMAND_OK);
		edit_words(row, &sample.expansion, words, &count);
		shell_rewrite_fold(&sample.expansion, &sample.given, words,
				   count, &out);
		assert_int_equal(out.count, folded.count);
		for (size_t k = 0; k < out.count; k++) {
			if (strcmp(out.items[k], folded.items[k]) != 0)
				print_error("row %zu\n", i);
			assert_string_equal(out.items[k], folded.items[k]);
		}
		strlist_release(&out);
		strlist_release(&folded);
		sample_release(&sample);
	}
}

static void a_flat_command_is_only_copied(void **state)
{
	struct shell_expansion none = { .inner = 0 };
	struct strlist given = STRLIST_INIT;
	struct strlist out = STRLIST_INIT;
	struct new_word words[] = { { "a", 0 }, { "b", NO_INDEX } };

	(void)state;
	strlist_add(&given, "a");
	shell_rewrite_fold(&none, &given, words, COUNT(words), &out);
	assert_int_equal(out.count, 2);
	assert_string_equal(out.items[1], "b");
	strlist_release(&out);
	strlist_release(&given);
}

/* The same numbers in every run. */
static unsigned random_next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

static char *random_word(unsigned *seed)
{
	static const char *const pieces[] = {
		"a",   "8", "--b=", " ",  "\t",      "\n",       "'",    "\"",
		"\\",  "$", "`",    "$X", "${Y:-4}", "$(c)",     "#",    "!",
		"*",   "?", "[a]",  "~",  "{a,b}",   "{micro}",  ";",    "&",
		"|",   "<", ">",    "(",  ")",       "\xc3\xa4", "\xff", "=",
		"A=1", "-", "%",    "\r", "if",
	};
	unsigned count = random_next(seed) % 6;
	struct strbuf word = STRBUF_INIT;

	strbuf_adds(&word, "");
	for (unsigned i = 0; i < count; i++)
		strbuf_adds(&word, pieces[random_next(seed) % COUNT(pieces)]);
	return strbuf_detach(&word);
}

/* Quoted in one of the ways there are. */
static void random_quote(struct strbuf *out, const char *word, unsigned *seed)
{
	unsigned way = random_next(seed) % 3;

	if (way == 0) {
		char *quoted = shell_quote(word);

		strbuf_adds(out, quoted);
		free(quoted);
	} else if (way == 1) {
		strbuf_addch(out, '"');
		for (; *word; word++) {
			if (strchr("$`\"\\", *word))
				strbuf_addch(out, '\\');
			strbuf_addch(out, *word);
		}
		strbuf_addch(out, '"');
	} else {
		if (!*word)
			strbuf_adds(out, "''");
		for (; *word; word++) {
			/* A backslash would take the newline away. */
			if (*word == '\n')
				strbuf_adds(out, "'\n'");
			else
				strbuf_addf(out, "\\%c", *word);
		}
	}
}

static void random_command(struct strlist *given, struct strlist *words,
			   unsigned *seed)
{
	static const char *const blanks[] = { " ", "  ", "\t", " \\\n " };
	unsigned count = random_next(seed) % 8;
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "printf '%s\\0'");
	strlist_add(words, "printf");
	strlist_add(words, "%s\\0");
	for (unsigned i = 0; i <= count; i++) {
		strlist_take(words, random_word(seed));
		strbuf_adds(&text, blanks[random_next(seed) % COUNT(blanks)]);
		random_quote(&text, words->items[words->count - 1], seed);
	}
	if (random_next(seed) % 2)
		strbuf_adds(&text, " # it's \"");
	strlist_add(given, "bash");
	strlist_add(given, "-c");
	strlist_take(given, strbuf_detach(&text));
}

static void any_words_come_back(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct sample sample = { .outcome = COMMAND_OK };
		struct strlist words = STRLIST_INIT;

		random_command(&sample.given, &words, &seed);
		/* A newline behind a carriage return is refused. */
		if (strstr(sample.given.items[2], "\r\n") == NULL) {
			sample_expand(&sample, 0, NULL, true);
			if (sample.outcome != COMMAND_OK)
				print_error("%s\n%s\n", sample.given.items[2],
					    sample.err.message);
			assert_int_equal(sample.outcome, COMMAND_OK);
			assert_int_equal(sample.expansion.argv.count,
					 words.count + 2);
			for (size_t i = 0; i < words.count; i++) {
				assert_string_equal(
					sample.expansion.argv.items[i + 2],
					words.items[i]);
				assert_false(sample.expansion.words[i + 2]
						     .is_opaque);
			}
			check_identity(&sample);
		}
		strlist_release(&words);
		sample_release(&sample);
	}
}

/* What bash makes of the command: words with NUL behind each. */
static void run_bash(const struct strlist *given, struct strbuf *out)
{
	char *quoted = shell_quote_all(given);
	FILE *pipe = popen(quoted, "r");
	char bytes[4096];
	size_t length;

	assert_non_null(pipe);
	while ((length = fread(bytes, 1, sizeof(bytes), pipe)) > 0)
		strbuf_add(out, bytes, length);
	assert_int_equal(pclose(pipe), 0);
	free(quoted);
}

/* Changes, drops and adds words behind printf and its format. */
static void random_edit(const struct shell_expansion *expansion,
			struct new_word *words, size_t *count,
			struct strlist *texts)
{
	unsigned seed = 11;

	for (size_t i = 0; i < expansion->argv.count; i++) {
		unsigned what = i < 5 ? 9 : random_next(&seed) % 8;

		strlist_add(texts, expansion->argv.items[i]);
		if (what == 0)
			continue;
		if (what == 1 || what == 2)
			strlist_take(texts, random_word(&seed));
		words[(*count)++] = (struct new_word){
			.text = texts->items[texts->count - 1], .from = i
		};
		if (what != 3)
			continue;
		strlist_take(texts, random_word(&seed));
		add_new(words, count, texts->items[texts->count - 1]);
	}
}

static void bash_agrees(void **state)
{
	unsigned seed = 3;

	(void)state;
	if (access("/bin/bash", X_OK) != 0)
		skip();
	for (int round = 0; round < 60; round++) {
		struct sample sample = { .outcome = COMMAND_OK };
		struct strlist words = STRLIST_INIT;
		struct strlist texts = STRLIST_INIT;
		struct strlist folded = STRLIST_INIT;
		struct strbuf said = STRBUF_INIT;
		struct strbuf wanted = STRBUF_INIT;
		struct new_word changed[64];
		size_t count = 0;

		random_command(&sample.given, &words, &seed);
		sample_expand(&sample, 0, NULL, true);
		if (sample.outcome == COMMAND_OK) {
			random_edit(&sample.expansion, changed, &count, &texts);
			shell_rewrite_fold(&sample.expansion, &sample.given,
					   changed, count, &folded);
			run_bash(&folded, &said);
			for (size_t i = 4; i < count; i++)
				strbuf_add(&wanted, changed[i].text,
					   strlen(changed[i].text) + 1);
			assert_int_equal(said.length, wanted.length);
			assert_memory_equal(said.data, wanted.data,
					    wanted.length);
		}
		strbuf_release(&said);
		strbuf_release(&wanted);
		strlist_release(&words);
		strlist_release(&texts);
		strlist_release(&folded);
		sample_release(&sample);
	}
}

/* Where the script itself says what it passes on. */
static void bash_agrees_about_scripts(void **state)
{
	static const char *const scripts[] = {
		"A=${A:-4}; B='x y'; C=(1 \"2 3\"); C+=($B); : ${D:=7}\n",
		"A=; B=\" a  b \"; unset C; export D=\"$A$B\"\n",
		"A=1; [ -z \"$A\" ] && A=2\nif [ -z \"$B\" ]; then B=3; fi\n",
		"A=$1; shift; C=(\"$@\"); D=${2-no}; B=${E+set}\n",
		"set -eu; A=a\\ b; B=\"q\\\"r\"; C=(); D=$'t\\tu'\n",
		"while [[ $# -gt 2 ]]; do shift; done; A=1; B=2\n"
		"while [ -n \"$D\" ]; do D=8; done; D=9\n"
		"while [ $A = 1 ]; do A=x; B=y; continue; B=z; done\n",
		"A=1; f() { A=5; if [ x = \"$1\" ]; then B=1; else B=2; fi; "
		"return; A=6; }\ncase \"$1\" in two) D=1;; one) D=9;; esac\n"
		"g() { A=7; }; f \"$@\"\n",
	};
	static const char line[] =
		"python() { printf '%s\\0' \"$@\"; }\n"
		"python $A \"$A\" x${B:-no}y \"${B-}\" ${C[@]+\"${C[@]}\"} "
		"${D:-$A} ${D:+-d $D} \"a'$A'\" 'b\"$A' \"${@}\" $@ ${A}$B\n";

	(void)state;
	if (access("/bin/bash", X_OK) != 0)
		skip();
	for (size_t i = 0; i < COUNT(scripts); i++) {
		struct sample sample = { .outcome = COMMAND_OK };
		char *script = xasprintf("%s%s", scripts[i], line);
		struct strlist run = STRLIST_INIT;
		struct strbuf said = STRBUF_INIT;
		struct strbuf wanted = STRBUF_INIT;

		words_add(&sample.given,
			  (const char *const[]){ "bash", "t.sh", "one", "two 3",
						 NULL });
		sample_expand(&sample, 0, script, true);
		if (sample.outcome != COMMAND_OK)
			print_error("%s\n", sample.err.message);
		assert_int_equal(sample.outcome, COMMAND_OK);
		words_add(&run, (const char *const[]){ "env", "-i", "/bin/bash",
						       "-c", script, "t.sh",
						       "one", "two 3", NULL });
		run_bash(&run, &said);
		for (size_t k = sample.expansion.inner + 1;
		     k < sample.expansion.argv.count; k++)
			strbuf_add(&wanted, sample.expansion.argv.items[k],
				   strlen(sample.expansion.argv.items[k]) + 1);
		if (said.length != wanted.length)
			print_error("script %zu\n", i);
		assert_int_equal(said.length, wanted.length);
		assert_memory_equal(said.data, wanted.data, wanted.length);
		free(script);
		strlist_release(&run);
		strbuf_release(&said);
		strbuf_release(&wanted);
		sample_release(&sample);
	}
}

static double seconds_now(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One mebibyte of the same again and again; none takes long. */
static void hostile_scripts_end_soon(void **state)
{
	static const char *const pieces[] = {
		"a ",
		"$A ",
		"A=$A$A;",
		"A=1\n",
		"\"",
		"$(",
		"${A:-",
		"$((",
		"(",
		"{\n",
		"if\n",
		"A=(",
		"<<E\n",
		"f()\n",
		"case a in\n",
		"$(pwd)",
		"\\\n",
		"`a`",
		"$@ ",
		"A+=(a)\n",
		"A+=aaaa\n",
		"a&&",
		"for a in b; ",
		"[[ a\n",
		"python t.py\n",
		"${A:-${B:-${C:-${D:-x}}}}",
		"export A=1\n",
		"\0",
		"\xff",
		"srun a ",
		"source x\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct sample sample = { .outcome = COMMAND_OK };
		struct strbuf text = STRBUF_INIT;
		size_t length = pieces[i][0] ? strlen(pieces[i]) : 1;
		double begin;

		strbuf_adds(&text, "A=aaaaaaaaaaaaaaaa\nB=($A $A $A)\npython ");
		while (text.length < 1 << 20)
			strbuf_add(&text, pieces[i], length);
		words_add(&sample.given,
			  (const char *const[]){ "bash", "t.sh", "a", NULL });
		named_files_add(&sample.texts, "t.sh", &text, 0);
		begin = seconds_now();
		sample_expand(&sample, 0, NULL, true);
		/* Milliseconds, but for the sanitizers. */
		if (seconds_now() - begin > 2)
			print_error("%s: %.3f s\n", pieces[i],
				    seconds_now() - begin);
		assert_true(seconds_now() - begin < 2);
		sample_release(&sample);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_taken_apart),
		cmocka_unit_test(scripts_are_taken_apart),
		cmocka_unit_test(what_is_more_is_told),
		cmocka_unit_test(other_outcomes),
		cmocka_unit_test(nothing_known_of_the_environment),
		cmocka_unit_test(a_script_with_nul_bytes),
		cmocka_unit_test(too_many_files),
		cmocka_unit_test(changes_are_folded),
		cmocka_unit_test(a_flat_command_is_only_copied),
		cmocka_unit_test(any_words_come_back),
		cmocka_unit_test(bash_agrees),
		cmocka_unit_test(bash_agrees_about_scripts),
		cmocka_unit_test(hostile_scripts_end_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
