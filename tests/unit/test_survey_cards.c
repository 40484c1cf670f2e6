/* The cards of a survey: which, and in which order they are asked. */
/* SPDX-License-Identifier: MIT */
#include "launcher/survey/survey_cards.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static struct gpu_catalogue catalogue;

static void named_cards_come_in_groups(void **state)
{
	static const char *const wanted[] = { "NVIDIA H100 PCIe",
					      "NVIDIA GeForce RTX 4090",
					      "NVIDIA GeForce RTX 3060",
					      "Tesla T4" };
	struct survey_cards cards;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(survey_cards_choose(&cards, &catalogue,
					     "t4,rtx3060,h100-pcie,4090,T4",
					     &err),
			 0);
	assert_int_equal(cards.count, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++)
		assert_string_equal(cards.items[i].name, wanted[i]);
	assert_int_equal(survey_cards_group(&cards, 0), 1);
	assert_int_equal(survey_cards_group(&cards, 1), 2);
	assert_int_equal(survey_cards_group(&cards, 3), 1);
	survey_cards_release(&cards);
}

static void what_is_no_card_is_named(void **state)
{
	static const struct {
		const char *words, *why;
	} rows[] = {
		{ "t4,none9", "'none9' is no GPU model" },
		{ "mi300x", "does not say its compute capability" },
		{ ",", "no card is named" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct survey_cards cards;
		struct error err = ERROR_INIT;

		assert_true(survey_cards_choose(&cards, &catalogue,
						rows[i].words, &err) < 0);
		assert_non_null(strstr(err.message, rows[i].why));
		survey_cards_release(&cards);
	}
}

static void all_are_those_of_cuda(void **state)
{
	struct survey_cards cards;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(survey_cards_choose(&cards, &catalogue, NULL, &err),
			 0);
	assert_true(cards.count > 30);
	for (size_t i = 0; i < cards.count; i++) {
		const struct gpu_model *card = &cards.items[i];

		assert_true(card->compute_major >= 7 && card->multiprocessors &&
			    card->usable_bytes);
		assert_true(i == 0 ||
			    card->compute_major != card[-1].compute_major ||
			    card->usable_bytes <= card[-1].usable_bytes);
	}
	survey_cards_release(&cards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_cards_come_in_groups),
		cmocka_unit_test(what_is_no_card_is_named),
		cmocka_unit_test(all_are_those_of_cuda),
	};
	int failed;

	gpu_catalogue_load(&catalogue, NULL, NULL);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	gpu_catalogue_release(&catalogue);
	return failed;
}
