/* What tests of estimates begin with. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_ESTIMATE_CASE_H
#define AUTOFIT_TESTS_UNIT_ESTIMATE_CASE_H

#include "configs/models/models.h"
#include "estimator/estimator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define MIB (INT64_C(1) << 20)
#define LLAMA_7B INT64_C(6738415616)

/* The state of a test is the table of models. */
static inline const struct model_facts *model(void **state, const char *name)
{
	struct error err = ERROR_INIT;
	const struct model_facts *facts = model_table_find(*state, name, &err);

	if (!facts)
		fail_msg("%s", err.message);
	return facts;
}

/* A sample of so many tokens, 16-bit, on one GPU. */
static inline struct workload plain(void **state, const char *name,
				    int64_t sequence)
{
	return (struct workload){ .model = model(state, name),
				  .micro_batch = 1,
				  .sequence = sequence,
				  .regime = REGIME_BF16 };
}

static inline struct estimate estimated(const struct workload *work)
{
	struct estimate estimate;
	struct error err = ERROR_INIT;

	if (estimate_memory(work, &estimate, &err) < 0)
		fail_msg("%s", err.message);
	return estimate;
}

static inline int64_t part(const struct workload *work, enum peak_phase phase,
			   enum part which)
{
	struct estimate estimate = estimated(work);

	return estimate.parts[phase][which];
}

/* Setup and teardown of a group of tests. */
static inline int models_open(void **state)
{
	struct model_table *models = calloc(1, sizeof(*models));
	struct strlist warnings = STRLIST_INIT;

	if (!models)
		return -1;
	model_table_load(models, NULL, &warnings);
	strlist_release(&warnings);
	*state = models;
	return 0;
}

static inline int models_close(void **state)
{
	model_table_release(*state);
	free(*state);
	return 0;
}

#endif
