/* The cards of a survey: which, and in which order they are asked. */
/* SPDX-License-Identifier: MIT */
#include "launcher/survey/survey_cards.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Wheels for CUDA 12.8 and later have kernels from this one on. */
#define COMPUTE_MAJOR_MIN 7

static int by_group(const void *a, const void *b)
{
	const struct gpu_model *one = a, *other = b;

	if (one->compute_major != other->compute_major)
		return one->compute_major > other->compute_major ? -1 : 1;
	if (one->usable_bytes != other->usable_bytes)
		return one->usable_bytes > other->usable_bytes ? -1 : 1;
	return strcmp(one->name, other->name);
}

static bool can_be_phantom(const struct gpu_model *card)
{
	return card->compute_major && card->multiprocessors;
}

static void add_card(struct survey_cards *cards, const struct gpu_model *card)
{
	for (size_t i = 0; i < cards->count; i++)
		if (strcmp(cards->items[i].name, card->name) == 0)
			return;
	cards->items =
		xrealloc(cards->items, cards->count + 1, sizeof(*cards->items));
	cards->items[cards->count++] = *card;
}

static int add_named(struct survey_cards *cards,
		     const struct gpu_catalogue *catalogue, const char *word,
		     struct error *err)
{
	const struct gpu_model *card = gpu_catalogue_find(catalogue, word, err);

	if (!card)
		return error_prefix(err, "a phantom card");
	if (!can_be_phantom(card))
		return error_set(
			err, -EINVAL,
			"a phantom card: %s: gpus.csv does not say its "
			"compute capability (cc) and multiprocessors "
			"(sms)",
			card->name);
	add_card(cards, card);
	return 0;
}

int survey_cards_choose(struct survey_cards *cards,
			const struct gpu_catalogue *catalogue,
			const char *words, struct error *err)
{
	char *copy = words ? xstrdup(words) : NULL;
	char *rest = NULL;
	int result = 0;

	*cards = (struct survey_cards){ .items = NULL };
	for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL;
	     word && result == 0; word = strtok_r(NULL, ",", &rest))
		result = add_named(cards, catalogue, word, err);
	free(copy);
	for (size_t i = 0; !words && i < catalogue->count; i++)
		if (can_be_phantom(&catalogue->items[i]) &&
		    catalogue->items[i].compute_major >= COMPUTE_MAJOR_MIN)
			add_card(cards, &catalogue->items[i]);
	if (result == 0 && !cards->count)
		result = error_set(err, -EINVAL, "no card is named");
	if (result == 0)
		qsort(cards->items, cards->count, sizeof(*cards->items),
		      by_group);
	return result;
}

void survey_cards_release(struct survey_cards *cards)
{
	free(cards->items);
	*cards = (struct survey_cards){ .items = NULL };
}

size_t survey_cards_group(const struct survey_cards *cards, size_t first)
{
	size_t end = first;

	while (end < cards->count && cards->items[end].compute_major ==
					     cards->items[first].compute_major)
		end++;
	return end - first;
}
