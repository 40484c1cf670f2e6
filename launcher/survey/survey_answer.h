/* What a survey found, as a table for people and for programs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_SURVEY_SURVEY_ANSWER_H
#define AUTOFIT_LAUNCHER_SURVEY_SURVEY_ANSWER_H

#include "base/strbuf.h"
#include "launcher/estimate/estimate_case.h"
#include "launcher/survey/survey_cards.h"
#include "launcher/tuning/session.h"

#include <jansson.h>

/* All is the caller's. */
struct survey_answer {
	const struct survey_cards *cards;
	const struct session_card *found; /* one for each of the cards */
	/* The formula's view of the command; has_model false: it has none. */
	const struct estimate_case *formula;
	const struct strlist *notes; /* lines below the table */
};

/* The smallest card first, with a title. */
void survey_answer_print(struct strbuf *out,
			 const struct survey_answer *answer);

/* The object of `autofit estimate`, with the rows in "phantom"; the caller
 * decrefs it. */
json_t *survey_answer_json(const struct survey_answer *answer);

#endif
