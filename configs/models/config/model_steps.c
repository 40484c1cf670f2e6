/* The steps of a network of convolutions, as words. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/config/model_steps.h"

#include "base/strbuf.h"

#include <errno.h>
#include <string.h>

/* More is a mistake, and would only take time. */
#define NUMBER_MOST 100000
#define REPEAT_MOST 200

static const struct step_kind {
	const char *name;
	int32_t kernel; /* if nothing is said */
	bool has_size;
} step_kinds[CONV_KINDS] = {
	[CONV_NORMED] = { "conv", 3, true },
	[CONV_SWISH] = { "swish", 3, true },
	[CONV_BIASED] = { "biased", 3, true },
	[CONV_PLAIN] = { "plain", 3, true },
	[CONV_MAX] = { "max", 3, true },
	[CONV_BASIC] = { "basic", 3, true },
	[CONV_BOTTLE] = { "bottle", 3, true },
	[CONV_INVERTED] = { "inverted", 3, true },
	[CONV_THIN] = { "thin", 3, true },
	[CONV_HARD] = { "hard", 3, true },
	[CONV_MOBILE] = { "mobile", 3, true },
	[CONV_FUSED] = { "fused", 3, true },
	[CONV_PATCHES] = { "patches", 4, true },
	[CONV_NEXT] = { "next", 7, true },
	[CONV_DOWN] = { "down", 2, true },
	[CONV_DENSE] = { "dense", 3, true },
	[CONV_TRANSITION] = { "transition", 1, false },
	[CONV_END] = { "end", 1, false },
	[CONV_POOL] = { "pool", 1, true },
	[CONV_FULL] = { "full", 1, true },
	[CONV_HEAD] = { "head", 1, false },
	[CONV_NORMED_HEAD] = { "normedhead", 1, false },
};

static const struct {
	char letter;
	size_t offset;
	int32_t most;
} step_numbers[] = {
	{ 'k', offsetof(struct conv_step, kernel), NUMBER_MOST },
	{ 's', offsetof(struct conv_step, stride), NUMBER_MOST },
	{ 'p', offsetof(struct conv_step, padding), NUMBER_MOST },
	{ 'x', offsetof(struct conv_step, repeat), REPEAT_MOST },
	{ 'i', offsetof(struct conv_step, inner), NUMBER_MOST },
	{ 'q', offsetof(struct conv_step, squeeze), NUMBER_MOST },
	{ 'g', offsetof(struct conv_step, groups), NUMBER_MOST },
	{ 'e', offsetof(struct conv_step, expand), 100 },
};

#define STEP_NUMBERS (sizeof(step_numbers) / sizeof(*step_numbers))

/* Digits from *at on, which moves behind them; -1: none, or more than most. */
static int32_t step_number(const char **at, const char *end, int32_t most)
{
	const char *start = *at;
	int32_t number = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
		number = number * 10 + (**at - '0');
		if (number > most)
			return -1;
	}
	return *at == start ? -1 : number;
}

/* The letters up to the first digit. */
static bool take_kind(struct conv_step *step, const char **at, const char *end)
{
	size_t length = 0;

	while (*at + length < end && (*at)[length] >= 'a' &&
	       (*at)[length] <= 'z')
		length++;
	for (int i = 0; i < CONV_KINDS; i++) {
		if (strlen(step_kinds[i].name) != length ||
		    strncmp(step_kinds[i].name, *at, length) != 0)
			continue;
		step->kind = (enum conv_kind)i;
		*at += length;
		return true;
	}
	return false;
}

static bool take_letter(struct conv_step *step, const char **at,
			const char *end)
{
	size_t i = 0;
	int32_t number;

	while (i < STEP_NUMBERS && step_numbers[i].letter != **at)
		i++;
	if (i == STEP_NUMBERS)
		return false;
	(*at)++;
	number = step_number(at, end, step_numbers[i].most);
	step->has_padding = step->has_padding || step_numbers[i].letter == 'p';
	/* Only a padding may be 0. */
	if (number < 0 || (number == 0 && step_numbers[i].letter != 'p'))
		return false;
	*(int32_t *)((char *)step + step_numbers[i].offset) = number;
	return true;
}

static bool take_step(struct conv_step *step, const char *word, size_t length)
{
	const char *at = word, *end = word + length;

	*step = (struct conv_step){
		.repeat = 1, .stride = 1, .groups = 1, .expand = 1
	};
	if (!take_kind(step, &at, end))
		return false;
	step->kernel = step_kinds[step->kind].kernel;
	if (step_kinds[step->kind].has_size) {
		step->size = step_number(&at, end, NUMBER_MOST);
		if (step->size <= 0)
			return false;
	}
	step->inner = step->size;
	while (at < end)
		if (!take_letter(step, &at, end))
			return false;
	return true;
}

static int fail_step(const char *word, size_t length, struct error *err)
{
	struct strbuf names = STRBUF_INIT;
	int result;

	for (int i = 0; i < CONV_KINDS; i++)
		strbuf_addf(&names, ", %s%s", step_kinds[i].name,
			    step_kinds[i].has_size ? "N" : "");
	result = error_set(err, -EINVAL,
			   "steps: '%.*s' is none: a kind%s, and numbers "
			   "behind k, s, p, x, i, q, g, e",
			   (int)(length < 32 ? length : 32), word,
			   strbuf_text(&names));
	strbuf_release(&names);
	return result;
}

int model_steps_read(struct model_facts *facts, const char *text,
		     struct error *err)
{
	for (const char *word = text; *word;) {
		size_t length = strcspn(word, " ");

		if (length && facts->step_count == CONV_STEPS_MAX)
			return error_set(err, -EINVAL, "steps: more than %d",
					 CONV_STEPS_MAX);
		if (length &&
		    !take_step(&facts->steps[facts->step_count], word, length))
			return fail_step(word, length, err);
		facts->step_count += length > 0;
		word += length;
		word += *word == ' ';
	}
	return 0;
}
