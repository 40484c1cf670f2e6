/* The text of `autofit estimate`, and its JSON object. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_TEXT_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_TEXT_H

#include "base/strbuf.h"
#include "launcher/estimate/estimate_case.h"
#include "launcher/report/report_table.h"

#include <stdbool.h>

#include <jansson.h>

/* Model, run, what was assumed. */
void estimate_text_case(struct strbuf *out, const struct estimate_case *all,
			const struct estimate *estimate);
/* Each part with its tier, the peaks with their intervals, the GPU. */
void estimate_text_breakdown(struct strbuf *out,
			     const struct estimate_case *all,
			     const struct estimate *estimate, bool has_picture);
/* A title, the table, its notes. */
void estimate_text_view(struct strbuf *out, const char *title,
			const struct report_table *table,
			const struct strlist *notes);

/*
 * autofit.estimate/1 but for the tables; estimate NULL: no model was named. The
 * caller adds each table and decrefs the object.
 */
json_t *estimate_json(const struct estimate_case *all,
		      const struct estimate *estimate);

#endif
