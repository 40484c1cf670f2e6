/* Output of any bytes in any pieces: the same is read in it, and in time. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "configs/presets/preset.h"
#include "configs/presets/steps.h"
#include "configs/signatures/signature.h"
#include "probes/output/failure.h"
#include "probes/output/lines.h"
#include "probes/output/redact.h"
#include "probes/output/refusal.h"
#include "probes/verdict/allocations.h"
#include "probes/verdict/step_count.h"
#include "tests/fuzz/fuzz.h"

/* What the matcher has to read with: made once. */
struct rules {
	struct signatures *signatures;
	struct step_patterns **steps; /* of each preset */
	size_t count;
	struct strlist secrets;
	struct refusal *refusal;
};

/* What was read in the output. */
struct reading {
	const struct rules *rules;
	const struct step_patterns *patterns;
	uint64_t lines, found, refused, fragmented; /* of all, in their order */
	struct step_count steps;
	struct failure failure;
	struct redact redact;
	struct strbuf masked, text;
};

static void note(uint64_t *sum, const void *data, size_t length)
{
	uint64_t pair[2] = { *sum, hash_bytes(data, length) };

	*sum = hash_bytes(pair, sizeof(pair));
}

static const struct rules *rules(void)
{
	static struct rules made;
	struct presets presets;

	if (made.signatures)
		return &made;
	fuzz_check(presets_load(&presets, NULL, NULL) == 0 &&
			   signatures_load(&made.signatures, NULL, NULL) == 0,
		   "what is built in loads");
	presets_read_all(&presets);
	made.count = presets.count;
	made.steps = xcalloc(made.count, sizeof(struct step_patterns *));
	for (size_t i = 0; i < made.count; i++)
		fuzz_check(
			step_patterns_make(&made.steps[i],
					   &presets.items[i].log.step_patterns,
					   &presets.items[i].log.step_ignore,
					   NULL) == 0,
			"what is built in compiles");
	presets_release(&presets);
	made.refusal = refusal_make();
	strlist_add(&made.secrets, "hf_secret");
	strlist_add(&made.secrets, "hf_sechf_s");
	strlist_add(&made.secrets, "key\nof two");
	return &made;
}

static void match(struct reading *reading, const char *line, size_t length)
{
	const struct signature *signature = signatures_match(
		reading->rules->signatures, line, length, NULL);
	int64_t counter = step_patterns_match(reading->patterns, line, length);
	char path[REFUSAL_PATH_MAX];
	char *text;

	fuzz_check(counter >= -1, "a counter is not negative");
	step_count_note(&reading->steps, counter);
	failure_line(&reading->failure, line, length);
	if (signature)
		note(&reading->found, signature->name, strlen(signature->name));
	if (refusal_line(reading->rules->refusal, line, length, path)) {
		fuzz_check(memchr(path, '\0', sizeof(path)),
			   "a path that was refused ends");
		note(&reading->refused, path, strlen(path));
	}
	text = fuzz_copy((struct fuzz_input){ line, length }, true);
	if (allocations_text_is_fragmented(text))
		note(&reading->fragmented, line, length);
	free(text);
}

static void on_line(void *context, const char *line, size_t length)
{
	struct reading *reading = context;
	char *copy = fuzz_copy((struct fuzz_input){ line, length }, false);

	fuzz_check(length > 0, "no line is empty");
	for (size_t i = 0; i < length; i++)
		fuzz_check(!strchr("\n\r\033\b", line[i]) || !line[i],
			   "a line has no ends and no sequences in it");
	note(&reading->lines, copy, length);
	match(reading, copy, length);
	free(copy);
}

/* A few bytes, or many: as the seed has it. */
static size_t piece(uint32_t *seed, size_t left)
{
	size_t length;

	*seed = *seed * 1664525U + 1013904223U;
	length = 1 + (*seed >> 16) % ((*seed >> 8) % 4 ? 7 : 200);
	return length < left ? length : left;
}

static void read_log(struct reading *reading, struct fuzz_input input,
		     uint32_t seed, bool whole)
{
	struct lines lines = LINES_INIT;

	redact_open(&reading->redact, &reading->rules->secrets);
	while (input.size) {
		struct fuzz_input part = { input.data, input.size };
		char *copy;

		if (!whole)
			part.size = piece(&seed, input.size);
		copy = fuzz_copy(part, false);
		lines_feed(&lines, copy, part.size, on_line, reading);
		redact_feed(&reading->redact, copy, part.size,
			    &reading->masked);
		free(copy);
		input.data += part.size;
		input.size -= part.size;
	}
	lines_finish(&lines, on_line, reading);
	lines_release(&lines);
	redact_finish(&reading->redact, &reading->masked);
	failure_text(&reading->failure, &reading->text);
}

static void check_texts(const struct reading *reading)
{
	const char *text = strbuf_text(&reading->text);

	fuzz_check(reading->text.length < (size_t)64 * 1024,
		   "the first error is short");
	fuzz_check(strlen(text) == reading->text.length,
		   "the first error has no NUL in it");
	for (; *text; text++)
		fuzz_check((unsigned char)*text >= ' ' || *text == '\n' ||
				   *text == '\t',
			   "the first error has no control bytes in it");
	for (size_t i = 0; i < reading->rules->secrets.count; i++)
		fuzz_check(!memmem(strbuf_text(&reading->masked),
				   reading->masked.length,
				   reading->rules->secrets.items[i],
				   strlen(reading->rules->secrets.items[i])),
			   "no secret is left");
}

static bool same_text(const struct strbuf *a, const struct strbuf *b)
{
	return a->length == b->length &&
	       memcmp(strbuf_text(a), strbuf_text(b), a->length) == 0;
}

static void check_same(const struct reading *a, const struct reading *b)
{
	fuzz_check(a->lines == b->lines, "the same lines");
	fuzz_check(a->found == b->found, "the same signatures");
	fuzz_check(a->refused == b->refused, "the same refusals");
	fuzz_check(a->fragmented == b->fragmented, "the same fragmentation");
	fuzz_check(a->steps.steps == b->steps.steps &&
			   a->steps.counter == b->steps.counter,
		   "the same steps");
	fuzz_check(same_text(&a->text, &b->text), "the same first error");
	fuzz_check(same_text(&a->masked, &b->masked), "the same log");
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t preset = fuzz_byte(&input);
	uint32_t seed = fuzz_byte(&input);
	struct reading readings[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		struct reading *reading = &readings[i];

		reading->rules = rules();
		reading->patterns =
			reading->rules->steps[preset % reading->rules->count];
		read_log(reading, input, seed, i == 0);
		check_texts(reading);
	}
	check_same(&readings[0], &readings[1]);
	for (int i = 0; i < 2; i++) {
		redact_release(&readings[i].redact);
		strbuf_release(&readings[i].masked);
		strbuf_release(&readings[i].text);
	}
}
