/* Do sizes mean what the words say? What the hook saw, row by row. */
/* SPDX-License-Identifier: MIT */
/* USES launcher base */
#include "launcher/tuning/effect/meaning.h"

#include "tests/unit/command_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SEEN(rows, passes, ranks)                                              \
	.input_rows = (rows), .seen_accum = (passes), .seen_ranks = (ranks)

/* train.py declares both options, with these defaults. */
static const char source[] =
	"parser.add_argument('--batch-size', type=int, default=8)\n"
	"parser.add_argument('--accum-steps', type=int, default=1)\n";
static const char only_batch[] =
	"parser.add_argument('--batch-size', type=int, default=8)\n";
static const char global_source[] =
	"parser.add_argument('--global-batch-size', type=int, default=256)\n";
static const char shared_source[] =
	"parser.add_argument('--bs', type=int, default=8,\n"
	"                    help='global batch size')\n"
	"parser.add_argument('--accum-steps', type=int, default=1)\n";
/* In front of a line: the user gives autofit this option. */
#define SAID "--micro-scope rank -- "
/* It was read so once, with --turns as a guess. */
#define MADE "guessed -- "
#define FAILED "guessed in vain -- "
/* No option is known to be the batch size, and a probe shows the rows; it was
 * read so once, with --chunk as a guess. */
#define OPEN "open -- "
#define TAKEN "taken -- "
/* --batch-size is the whole batch of a step: seen, with --turns as a guess of
 * its pieces; or told. */
#define CUT "cut -- "
#define WHOLE "whole -- "
/* --turns is guessed to be the batch of a step. */
#define ALL "all -- "
/* The defaults, 8 and 1, were seen to make 32 rows and 2 passes. */
#define MORE "more -- "
static const char no_name[] =
	"parser.add_argument('--chunk', type=int, default=24)\n"
	"parser.add_argument('--knots', type=int, default=64)\n"
	"LIMIT = 7\nLIMIT = 48\n";
static const char two_ranks[] = "torchrun --nproc-per-node 2 ";

static const struct row {
	const char *name;
	const char *source, *ranks, *line;
	struct batch written;
	struct trial trial;
	enum meaning_state state;
	struct seen_meaning seen;
	const char *words; /* in the line for the user; NULL: none is made */
} rows[] = {
	{ "as read",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 8, 4, 1, 0 },
	  { SEEN(8, 4, 0) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "nothing seen",
	  source,
	  "",
	  "--batch-size 8",
	  { 8, 1, 1, 0 },
	  { SEEN(0, 0, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "rows alone, as read",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 8, 4, 1, 0 },
	  { SEEN(8, 0, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "packed into one row",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 8, 4, 1, 0 },
	  { SEEN(1, 4, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "two views of each",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 8, 4, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "two ranks, as read",
	  source,
	  two_ranks,
	  "--batch-size 8 --accum-steps 2",
	  { 8, 2, 2, 0 },
	  { SEEN(8, 2, 2) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "over all ranks",
	  source,
	  two_ranks,
	  "--batch-size 16 --accum-steps 1",
	  { 16, 1, 2, 0 },
	  { SEEN(8, 1, 2) },
	  MEANING_OTHER,
	  { .micro_is_global = true },
	  "--micro-scope global" },
	{ "the whole batch",
	  source,
	  "",
	  "--batch-size 32 --accum-steps 4",
	  { 32, 4, 1, 0 },
	  { SEEN(8, 4, 0) },
	  MEANING_OTHER,
	  { .global_flag = "--batch-size" },
	  "--global-flag --batch-size" },
	{ "the whole batch, in as many pieces as another option says",
	  only_batch,
	  "",
	  "--batch-size 64 --batch-pieces 4",
	  { 64, 1, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_OTHER,
	  { .global_flag = "--batch-size", .accum_flag = "--batch-pieces" },
	  "--global-flag --batch-size --accum-flag --batch-pieces" },
	{ "in as many pieces as the one number of that value",
	  only_batch,
	  "",
	  "--batch-size 64 --turns 4 --knots 3",
	  { 64, 1, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_OTHER,
	  { .global_flag = "--batch-size",
	    .accum_flag = "--turns",
	    .accum_guess = GUESS_MADE },
	  "--global-flag --batch-size --accum-flag --turns" },
	{ "in pieces of as many rows as one number has",
	  only_batch,
	  "",
	  "--batch-size 64 --part 16 --knots 3",
	  { 64, 1, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_OTHER,
	  { .global_flag = "--batch-size",
	    .micro_flag = "--part",
	    .micro_guess = GUESS_MADE },
	  "--global-flag --batch-size --micro-flag --part" },
	{ "the same, of sequences that have time before the batch",
	  only_batch,
	  "",
	  "--batch-size 512 --part 32 --knots 35",
	  { 512, 1, 1, 0 },
	  { SEEN(35, 16, 0), .input_columns = 32 },
	  MEANING_OTHER,
	  { .global_flag = "--batch-size",
	    .micro_flag = "--part",
	    .micro_guess = GUESS_MADE },
	  "--global-flag --batch-size --micro-flag --part" },
	{ "another second dimension",
	  only_batch,
	  "",
	  "--batch-size 512 --part 32",
	  { 512, 1, 1, 0 },
	  { SEEN(35, 15, 0), .input_columns = 32 },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "in pieces of which nothing tells",
	  only_batch,
	  "",
	  "--batch-size 64 --turns 5 --knots 3",
	  { 64, 1, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_NO_SENSE,
	  { .global_flag = "--batch-size" },
	  "--global-flag --batch-size" },
	{ "pieces that another number for them leaves as they were",
	  only_batch,
	  "",
	  CUT "--batch-size 64 --turns 4",
	  { 32, 2, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_OTHER,
	  { .accum_guess = GUESS_FAILED },
	  "--turns does not count the passes" },
	{ "and pieces that follow it",
	  only_batch,
	  "",
	  CUT "--batch-size 64 --turns 4",
	  { 32, 2, 1, 0 },
	  { SEEN(32, 2, 0) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "a whole batch as told, in as many pieces as one number says",
	  only_batch,
	  "",
	  WHOLE "--batch-size 64 --turns 4",
	  { 1, 1, 1, 0 },
	  { SEEN(16, 4, 0), .loader_rows = 64, .input_columns = 64 },
	  MEANING_OTHER,
	  { .accum_flag = "--turns", .accum_guess = GUESS_MADE },
	  "4 passes of 16 rows make the whole batch of a step, and --turns is "
	  "the number of these" },
	{ "the same, in pieces of so many rows",
	  only_batch,
	  "",
	  WHOLE "--batch-size 64 --part 16 --knots 128",
	  { 1, 1, 1, 0 },
	  { SEEN(16, 4, 0), .loader_rows = 64, .input_columns = 128 },
	  MEANING_OTHER,
	  { .micro_flag = "--part", .micro_guess = GUESS_MADE },
	  "a pass takes 16 rows, and --part is that number" },
	{ "a loader that gives another batch than that",
	  only_batch,
	  "",
	  WHOLE "--batch-size 64 --part 16",
	  { 1, 1, 1, 0 },
	  { SEEN(16, 2, 0), .loader_rows = 32 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "its loader gives 32" },
	{ "less than the whole batch, which was written",
	  global_source,
	  "",
	  "--global-batch-size 16 --micro-batch-size 8",
	  { 16, 1, 1, 0 },
	  { SEEN(8, 1, 0), .loader_rows = 8 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "{micro:8} and {accum:1}" },
	{ "the whole batch of all ranks",
	  source,
	  two_ranks,
	  "--batch-size 32 --accum-steps 2",
	  { 32, 2, 2, 0 },
	  { SEEN(8, 2, 2) },
	  MEANING_OTHER,
	  { .global_flag = "--batch-size" },
	  "seen 8 rows x 2 passes x 2 ranks" },
	{ "the whole batch of all ranks, read as theirs for each pass",
	  shared_source,
	  two_ranks,
	  "--bs 32 --accum-steps 2",
	  { 16, 2, 2, 0 },
	  { SEEN(8, 2, 2), .loader_rows = 8 },
	  MEANING_OTHER,
	  { .global_flag = "--bs" },
	  "--global-flag --bs" },
	{ "a size of all ranks, as read",
	  shared_source,
	  two_ranks,
	  "--bs 32 --accum-steps 2",
	  { 16, 2, 2, 0 },
	  { SEEN(16, 2, 2), .loader_rows = 16 },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "a size of all ranks, divided by them twice",
	  shared_source,
	  two_ranks,
	  "--bs 32 --accum-steps 2",
	  { 16, 2, 2, 0 },
	  { SEEN(4, 2, 2), .loader_rows = 4 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "{micro:4}" },
	{ "total accumulation",
	  source,
	  two_ranks,
	  "--batch-size 8 --accum-steps 4",
	  { 8, 4, 2, 0 },
	  { SEEN(8, 2, 2) },
	  MEANING_OTHER,
	  { .accum_is_total = true },
	  "--accum-scope total" },
	{ "read as a global batch, and it is per rank",
	  global_source,
	  two_ranks,
	  "--global-batch-size 16",
	  { 8, 1, 2, 0 },
	  { SEEN(16, 1, 2) },
	  MEANING_OTHER,
	  { .micro_is_rank = true },
	  "--micro-scope rank" },
	{ "a global batch, and two views of each row",
	  global_source,
	  two_ranks,
	  "--global-batch-size 16",
	  { 8, 1, 2, 0 },
	  { SEEN(16, 1, 2), .loader_rows = 8 },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "a global batch, as read",
	  global_source,
	  two_ranks,
	  "--global-batch-size 16",
	  { 8, 1, 2, 0 },
	  { SEEN(8, 1, 2) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "a loader for fewer rows than were read",
	  source,
	  "",
	  "--batch-size 32",
	  { 32, 1, 1, 0 },
	  { SEEN(16, 1, 0), .loader_rows = 16 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "--micro-flag NAME" },
	{ "a part of what was read, and more than one pass",
	  source,
	  "",
	  "--batch-size 32 --accum-steps 4",
	  { 32, 4, 1, 0 },
	  { SEEN(16, 4, 0), .loader_rows = 16 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "{micro:16} where that number belongs; where a pass takes a part of "
	  "it, add --micro-scope rank" },
	{ "the same, and the user says that it is so",
	  source,
	  "",
	  SAID "--batch-size 32 --accum-steps 4",
	  { 32, 4, 1, 0 },
	  { SEEN(16, 4, 0), .loader_rows = 16 },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "in pieces, and the user says that these are parts",
	  source,
	  "",
	  SAID "--batch-size 32 --accum-steps 4",
	  { 32, 4, 1, 0 },
	  { SEEN(8, 4, 0), .loader_rows = 8 },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "marked, and in pieces: no option has a name",
	  source,
	  "",
	  "--batch-size {micro:32} --accum-steps {accum:4}",
	  { 32, 4, 1, 0 },
	  { SEEN(8, 4, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "--global-flag NAME" },
	{ "fewer rows than the loader was made for",
	  source,
	  "",
	  "--batch-size 32",
	  { 32, 1, 1, 0 },
	  { SEEN(16, 1, 0), .loader_rows = 32 },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "a default that is another one",
	  source,
	  "",
	  "--batch-size 8",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 16, 0) },
	  MEANING_OTHER,
	  { .accum_default = 16 },
	  "other defaults" },
	{ "both defaults",
	  source,
	  "",
	  "",
	  { 8, 1, 1, 0 },
	  { SEEN(1, 16, 0) },
	  MEANING_OTHER,
	  { .micro_default = 1, .accum_default = 16 },
	  "seen 1 row x 16 passes x 1 rank" },
	{ "a default, and time comes first",
	  source,
	  "",
	  "",
	  { 8, 1, 1, 0 },
	  { SEEN(35, 1, 0), .input_columns = 8 },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "defaults that make more are as read: so does what is written",
	  source,
	  "",
	  MORE,
	  { 16, 4, 1, 0 },
	  { SEEN(64, 8, 0) },
	  MEANING_OTHER,
	  { .micro_default = 8, .accum_default = 1 },
	  "as they were read first" },
	{ "one of both does, and what is written is the default itself",
	  source,
	  "",
	  MORE,
	  { 64, 1, 1, 0 },
	  { SEEN(64, 2, 0) },
	  MEANING_OTHER,
	  { .accum_default = 1 },
	  "as they were read first" },
	{ "defaults that are others: what is written is as it is written",
	  source,
	  "",
	  MORE,
	  { 64, 1, 1, 0 },
	  { SEEN(64, 1, 0) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "a default, and another size was written",
	  source,
	  "",
	  "",
	  { 16, 1, 1, 0 },
	  { SEEN(16, 1, 0) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "an accumulation that does nothing",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 8, 2, 1, 0 },
	  { SEEN(8, 1, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "--accum-flag NAME, or write {accum:1} where that number belongs; "
	  "if these were steps before the training, such as a search for the "
	  "learning rate, leave them out of probes with --probe-arg; if one "
	  "backward pass takes the losses of all micro-steps, each step holds "
	  "the memory of all, and no split saves any" },
	{ "it is always the own one",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 8, 2, 1, 0 },
	  { SEEN(8, 4, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "--accum-steps does not count" },
	{ "passes of several losses, in proportion",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 8, 2, 1, 0 },
	  { SEEN(8, 6, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "passes that no option names",
	  only_batch,
	  "",
	  "--batch-size 8",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 3, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "the own rows with another size: it has no effect",
	  source,
	  "",
	  "--batch-size 8 --accum-steps 4",
	  { 16, 2, 1, 0 },
	  { SEEN(8, 2, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "the one number of that value",
	  only_batch,
	  "",
	  "--batch-size 8 --turns 3 --knots 4 --log-every 3",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 3, 0) },
	  MEANING_OTHER,
	  { .accum_flag = "--turns", .accum_guess = GUESS_MADE },
	  "--turns is 3, too, and may count the passes (--accum-flag "
	  "--turns)" },
	{ "the one number of the rows of all passes",
	  only_batch,
	  "",
	  "--batch-size 8 --rows-of-update 32 --knots 5",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 4, 0) },
	  MEANING_OTHER,
	  { .global_flag = "--rows-of-update", .accum_guess = GUESS_MADE },
	  "--rows-of-update is as many as the rows of all passes" },
	{ "one of two numbers",
	  only_batch,
	  "",
	  "--batch-size 8 --turns 3 --knots 3",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 3, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "the batch size itself",
	  only_batch,
	  "",
	  "--batch-size 8 --turns 3",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 8, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "a number of a config file",
	  only_batch,
	  "",
	  "--batch-size 8 --config c.yaml",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 6, 0) },
	  MEANING_OTHER,
	  { .accum_flag = "trainer.rounds", .accum_guess = GUESS_MADE },
	  "trainer.rounds is 6, too" },
	{ "one in the file, and one in the command",
	  only_batch,
	  "",
	  "--batch-size 8 --config c.yaml --knots 6",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 6, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "a literal beside that of the batch size",
	  "BATCH = 8\nTURNS = 3\nSEED = 3\n",
	  "",
	  "",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 3, 0) },
	  MEANING_OTHER,
	  { .accum_flag = "TURNS", .accum_guess = GUESS_MADE },
	  "TURNS is 3, too" },
	{ "a number that counted as guessed",
	  only_batch,
	  "",
	  MADE "--batch-size 8 --turns 4",
	  { 16, 2, 1, 0 },
	  { SEEN(16, 2, 0) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "a batch of a step that did not",
	  only_batch,
	  "",
	  ALL "--batch-size 8 --turns 32",
	  { 16, 2, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_OTHER,
	  { .accum_guess = GUESS_FAILED },
	  "--turns does not count the passes" },
	{ "a number that did not",
	  only_batch,
	  "",
	  MADE "--batch-size 8 --turns 4",
	  { 16, 2, 1, 0 },
	  { SEEN(16, 4, 0) },
	  MEANING_OTHER,
	  { .accum_guess = GUESS_FAILED },
	  "--turns does not count the passes" },
	{ "nothing is guessed twice",
	  only_batch,
	  "",
	  FAILED "--batch-size 8 --turns 4",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 4, 0) },
	  MEANING_UNSEEN,
	  { 0 },
	  NULL },
	{ "rows, and one number given",
	  no_name,
	  "",
	  OPEN "--chunk 32 --knots 64 --workers 32 --width 32",
	  { 1, 1, 1, 0 },
	  { SEEN(32, 1, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "--chunk", .micro_guess = GUESS_MADE },
	  "a pass takes 32 rows, and --chunk is that number" },
	{ "and the passes with them",
	  no_name,
	  "",
	  OPEN "--chunk 32 --knots 3",
	  { 1, 1, 1, 0 },
	  { SEEN(32, 3, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "--chunk",
	    .micro_guess = GUESS_MADE,
	    .accum_flag = "--knots",
	    .accum_guess = GUESS_MADE },
	  "3 passes make a step, as --knots says" },
	{ "one of both is no two sizes",
	  no_name,
	  "",
	  OPEN "--chunk 3",
	  { 1, 1, 1, 0 },
	  { SEEN(3, 3, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "--chunk", .micro_guess = GUESS_MADE },
	  NULL },
	{ "two given numbers",
	  no_name,
	  "",
	  OPEN "--chunk 32 --knots 32",
	  { 1, 1, 1, 0 },
	  { SEEN(32, 1, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "--micro-flag NAME (a pass takes 32 rows, the value of --chunk "
	  "and --knots)" },
	{ "what is given goes before a default",
	  no_name,
	  "",
	  OPEN "--knots 24",
	  { 1, 1, 1, 0 },
	  { SEEN(24, 1, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "--knots", .micro_guess = GUESS_MADE },
	  NULL },
	{ "a default of an option",
	  no_name,
	  "",
	  OPEN "--knots 32",
	  { 1, 1, 1, 0 },
	  { SEEN(24, 1, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "--chunk", .micro_guess = GUESS_MADE },
	  NULL },
	{ "a line of a config file",
	  no_name,
	  "",
	  OPEN "--config c.yaml",
	  { 1, 1, 1, 0 },
	  { SEEN(6, 1, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "trainer.rounds", .micro_guess = GUESS_MADE },
	  NULL },
	{ "a literal of the script",
	  no_name,
	  "",
	  OPEN "",
	  { 1, 1, 1, 0 },
	  { SEEN(48, 1, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "LIMIT", .micro_guess = GUESS_MADE },
	  NULL },
	{ "one of two options that say so",
	  "parser.add_argument('--batch', type=int)\n"
	  "parser.add_argument('--bs', type=int)\n",
	  "",
	  OPEN "--batch 4 --bs 16",
	  { 1, 1, 1, 0 },
	  { SEEN(16, 1, 0) },
	  MEANING_OTHER,
	  { .micro_flag = "--bs", .micro_guess = GUESS_MADE },
	  NULL },
	{ "one that says nothing, beside one that says batch",
	  "parser.add_argument('--meta-batch', type=int)\n"
	  "parser.add_argument('--shots', type=int)\n",
	  "",
	  OPEN "--meta-batch 4 --shots 20",
	  { 1, 1, 1, 0 },
	  { SEEN(20, 1, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "--meta-batch; else write {micro} where the value belongs, or name "
	  "the option with --micro-flag NAME (a pass takes 20 rows, the value "
	  "of --shots)" },
	{ "the same by default",
	  "parser.add_argument('--meta-batch', type=int, default=4)\n"
	  "parser.add_argument('--shots', type=int)\n",
	  "",
	  OPEN "--shots 20",
	  { 1, 1, 1, 0 },
	  { SEEN(20, 1, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "(a pass takes 20 rows, the value of --shots)" },
	{ "time before the batch: a length is no batch size",
	  no_name,
	  "",
	  OPEN "--bptt 35 --seq_len 35 --knots 7",
	  { 1, 1, 1, 0 },
	  { SEEN(35, 1, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "no named number of the command has that value" },
	{ "time before the batch, and neither is named so",
	  no_name,
	  "",
	  OPEN "--chunk 35 --knots 9",
	  { 1, 1, 1, 0 },
	  { SEEN(35, 1, 0), .input_columns = 9 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "(a pass takes 35 rows, the value of --chunk; but the second "
	  "dimension of its input is 9, the value of --knots, and may be the "
	  "batch)" },
	{ "a second dimension of no number",
	  no_name,
	  "",
	  OPEN "--chunk 35 --knots 7",
	  { 1, 1, 1, 0 },
	  { SEEN(35, 1, 0), .input_columns = 8 },
	  MEANING_OTHER,
	  { .micro_flag = "--chunk", .micro_guess = GUESS_MADE },
	  NULL },
	{ "a loader of other rows",
	  no_name,
	  "",
	  OPEN "--chunk 35",
	  { 1, 1, 1, 0 },
	  { SEEN(35, 1, 0), .loader_rows = 7 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "(a pass takes 35 rows, and its loader gives 7)" },
	{ "rows of no number",
	  no_name,
	  "",
	  OPEN "",
	  { 1, 1, 1, 0 },
	  { SEEN(11, 1, 0) },
	  MEANING_NO_SENSE,
	  { 0 },
	  "(a pass takes 11 rows, and no named number of the command has "
	  "that value)" },
	{ "no rows",
	  no_name,
	  "",
	  OPEN "",
	  { 1, 1, 1, 0 },
	  { .seen_accum = 1 },
	  MEANING_NO_SENSE,
	  { 0 },
	  "(a run of it as it is does not show how many rows a pass takes)" },
	{ "a number that was the rows as guessed",
	  no_name,
	  "",
	  TAKEN "--chunk 32",
	  { 64, 1, 1, 0 },
	  { SEEN(64, 1, 0) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
	{ "a number that was not",
	  no_name,
	  "",
	  TAKEN "--chunk 32",
	  { 64, 1, 1, 0 },
	  { SEEN(32, 1, 0) },
	  MEANING_OTHER,
	  { .micro_guess = GUESS_FAILED },
	  "--chunk does not set the rows of a pass" },
	{ "ranks of its own",
	  only_batch,
	  "",
	  "--batch-size 8",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 1, 4) },
	  MEANING_OTHER,
	  { .ranks = 4 },
	  "trains with 4 ranks" },
	{ "ranks of its own, which share the batch",
	  only_batch,
	  "",
	  "--batch-size 64",
	  { 64, 1, 1, 0 },
	  { SEEN(8, 1, 8) },
	  MEANING_OTHER,
	  { .ranks = 8, .micro_is_global = true },
	  "--micro-scope global" },
	{ "half of the ranks share the model",
	  only_batch,
	  "torchrun --nproc-per-node 4 ",
	  "--batch-size 8",
	  { 8, 1, 4, 0 },
	  { SEEN(8, 1, 2) },
	  MEANING_OTHER,
	  { .ranks = 2 },
	  "trains with 2 ranks" },
	{ "a launcher that starts more ranks than it was asked for",
	  only_batch,
	  "torchrun --nproc-per-node 1 ",
	  "--batch-size 8",
	  { 8, 1, 1, 0 },
	  { SEEN(8, 1, 4) },
	  MEANING_AGREES,
	  { 0 },
	  NULL },
};

static bool is_seen(const struct seen_meaning *a, const struct seen_meaning *b)
{
	return a->micro_is_global == b->micro_is_global &&
	       a->micro_is_rank == b->micro_is_rank &&
	       a->accum_is_total == b->accum_is_total &&
	       a->accum_is_rank == b->accum_is_rank && a->ranks == b->ranks &&
	       a->micro_default == b->micro_default &&
	       a->accum_default == b->accum_default &&
	       a->micro_guess == b->micro_guess &&
	       a->accum_guess == b->accum_guess &&
	       strcmp(a->micro_flag, b->micro_flag) == 0 &&
	       strcmp(a->accum_flag, b->accum_flag) == 0 &&
	       strcmp(a->global_flag, b->global_flag) == 0;
}

static bool begins(const char *line, const char *mark)
{
	return strncmp(line, mark, strlen(mark)) == 0;
}

/* What stands in front of the line. */
static struct command_hints hints_of(const char *line)
{
	bool is_cut = begins(line, CUT), is_all = begins(line, ALL);
	bool is_made = begins(line, MADE), is_whole = begins(line, WHOLE);
	struct command_hints hints = {
		.rows_may_be_seen = begins(line, OPEN) || is_whole,
	};

	if (begins(line, SAID))
		hints.micro_scope = "rank";
	if (begins(line, TAKEN)) {
		hints.micro_flag = "--chunk";
		hints.micro_guess = GUESS_MADE;
	}
	if (is_cut || is_whole)
		hints.global_flag = "--batch-size";
	if (is_all)
		hints.global_flag = "--turns";
	if (is_made || is_cut)
		hints.accum_flag = "--turns";
	if (is_made || is_cut || is_all)
		hints.accum_guess = GUESS_MADE;
	if (begins(line, MORE)) {
		hints.micro_default = 32;
		hints.accum_default = 2;
	}
	if (begins(line, FAILED))
		hints.accum_guess = GUESS_FAILED;
	return hints;
}

static void one_row(const struct presets *presets, const struct row *row)
{
	const char *end = strstr(row->line, "-- ");
	const struct command_hints hints = hints_of(row->line);
	bool is_open = hints.rows_may_be_seen;
	const struct sample sample = { .presets = presets,
				       .hints = &hints,
				       .source = row->source,
				       .path = "c.yaml",
				       .text = "trainer:\n  rounds: 6\n"
					       "  num_workers: 6\n" };
	char *line = xasprintf("%s%strain.py %s", row->ranks,
			       *row->ranks ? "" : "python3 ",
			       end ? end + strlen("-- ") : row->line);
	struct strlist argv = words(line);
	struct trial trial = row->trial;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct command command;
	struct size_meaning meaning;

	if (sample_recognise(&command, &argv, &sample, &err) != COMMAND_OK)
		fail_msg("%s: %s", row->name, err.message);
	trial.verdict = VERDICT_FITS;
	trial.steps_source = STEPS_HOOK;
	meaning = meaning_judge(&command, &row->written, &trial);
	if (meaning.state != row->state || !is_seen(&meaning.seen, &row->seen))
		fail_msg("%s: state %d", row->name, (int)meaning.state);
	if (row->words) {
		meaning_add_words(&text, &command, &meaning, &row->written,
				  &trial);
		if (!strstr(strbuf_text(&text), row->words))
			fail_msg("%s: %s", row->name, strbuf_text(&text));
	}
	/* Without the hook nothing of it is believed. */
	trial.steps_source = STEPS_LOG;
	if (!is_open)
		assert_int_equal(
			meaning_judge(&command, &row->written, &trial).state,
			MEANING_UNSEEN);
	strbuf_release(&text);
	command_release(&command);
	strlist_release(&argv);
	free(line);
}

static void every_meaning_is_judged(void **state)
{
	struct presets presets;
	struct error err = ERROR_INIT;

	(void)state;
	if (presets_load(&presets, NULL, &err) < 0)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		one_row(&presets, &rows[i]);
	presets_release(&presets);
}

static struct trial told_and_seen(int64_t told, int64_t seen)
{
	return (struct trial){ .grad_accum = told, .seen_accum = seen };
}

static void passes_follow_what_was_told(void **state)
{
	static const struct {
		int64_t told[2], seen[2];
		bool follow;
	} pairs[] = {
		{ { 4, 2 }, { 8, 4 }, true },
		{ { 1, 3 }, { 2, 6 }, true },
		{ { 4, 2 }, { 4, 4 }, false }, /* it does nothing */
		{ { 4, 4 }, { 8, 8 }, false }, /* nothing else was told */
		{ { 4, 2 }, { 0, 0 }, false },
		{ { 4, 2 }, { 8, 3 }, false },
		{ { 4, INT64_MAX }, { 8, 4 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct trial one =
			told_and_seen(pairs[i].told[0], pairs[i].seen[0]);
		struct trial other =
			told_and_seen(pairs[i].told[1], pairs[i].seen[1]);

		if (meaning_passes_follow(&one, &other) != pairs[i].follow)
			fail_msg("pair %zu", i);
	}
}

static struct trial rows_and_passes(int64_t told[2], int64_t seen[2])
{
	return (struct trial){ .micro_batch = told[0],
			       .grad_accum = told[1],
			       .input_rows = seen[0],
			       .seen_accum = seen[1] };
}

static void an_accumulation_proves_what_is_read(void **state)
{
	struct {
		int64_t by_told[2], by_seen[2], told[2], seen[2];
		bool is_proved;
	} pairs[] = {
		{ { 8, 8 }, { 8, 8 }, { 32, 2 }, { 16, 2 }, true },
		{ { 8, 8 }, { 8, 8 }, { 32, 2 }, { 32, 2 }, false },
		/* The batch of a step is that of its one pass. */
		{ { 8, 1 }, { 8, 1 }, { 4, 2 }, { 2, 2 }, false },
		{ { 32, 4 }, { 8, 4 }, { 16, 2 }, { 8, 2 }, false },
		{ { 8, 8 }, { 8, 16 }, { 32, 2 }, { 16, 2 }, false },
		/* Each row has a pass of its own. */
		{ { 4, 2 }, { 1, 8 }, { 64, 1 }, { 1, 64 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct trial by =
			rows_and_passes(pairs[i].by_told, pairs[i].by_seen);
		struct trial other =
			rows_and_passes(pairs[i].told, pairs[i].seen);

		if (meaning_is_proved(&by, &other) != pairs[i].is_proved)
			fail_msg("pair %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_accumulation_proves_what_is_read),
		cmocka_unit_test(passes_follow_what_was_told),
		cmocka_unit_test(every_meaning_is_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
