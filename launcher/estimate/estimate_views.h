/* The tables of `autofit estimate`: each is filled, then shown twice. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_VIEWS_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_VIEWS_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/estimate/estimate_case.h"
#include "launcher/report/report_table.h"

#include <stdbool.h>

struct estimate_view {
	const char *key; /* in JSON */
	const char *title;
	const struct report_table_column *columns;
	bool (*is_wanted)(const struct estimate_case *all);
	/* notes: lines below the table. Negative: err. */
	int (*fill)(const struct estimate_case *all, struct report_table *table,
		    struct strlist *notes, struct error *err);
};

/* In the order they are shown; one without a key ends. */
extern const struct estimate_view estimate_views[];

int estimate_fill_options(const struct estimate_case *all,
			  struct report_table *table, struct strlist *notes,
			  struct error *err);
int estimate_fill_compare(const struct estimate_case *all,
			  struct report_table *table, struct strlist *notes,
			  struct error *err);
int estimate_fill_generation(const struct estimate_case *all,
			     struct report_table *table, struct strlist *notes,
			     struct error *err);
int estimate_fill_gpus(const struct estimate_case *all,
		       struct report_table *table, struct strlist *notes,
		       struct error *err);
int estimate_fill_fit(const struct estimate_case *all,
		      struct report_table *table, struct strlist *notes,
		      struct error *err);
int estimate_fill_need(const struct estimate_case *all,
		       struct report_table *table, struct strlist *notes,
		       struct error *err);

/* No table is asked for: the parts are the answer, and what would save them. */
bool estimate_is_plain(const struct estimate_request *request);

#endif
