/* Models from texts, and how many parameters they have. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_MODEL_SAMPLE_H
#define AUTOFIT_TESTS_MODEL_SAMPLE_H

#include "configs/models/model.h"
#include "estimator/estimator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The text as if it were that file. */
static inline int sample_read_text(const char *name, const char *text,
				   struct model_facts *facts, struct error *err)
{
	struct model_text file = { name, text, strlen(text) };

	return model_read_text(facts, &file, err);
}

static inline int64_t sample_parameters(const struct model_facts *facts)
{
	struct error err = ERROR_INIT;
	int64_t parameters = 0;

	if (model_parameters(facts, &parameters, &err) < 0)
		fail_msg("%s", err.message);
	return parameters;
}

#endif
