/* `autofit show`: the recorded answers as a list, or one of them in full. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_SHOW_H
#define AUTOFIT_LAUNCHER_RECORDS_SHOW_H

#include "base/strbuf.h"
#include "configs/records/record.h"
#include "launcher/report/report.h"

#include <stdbool.h>
#include <stddef.h>

/* A record of the list; nothing of it is owned. */
struct show_item {
	const char *name;            /* of its file, without .ini */
	const struct record *record; /* NULL: not to be used */
	const char *problem;         /* why not; NULL with a record */
	bool is_site;                /* of AUTOFIT_SITE: read-only */
};

/* Two lines for each, in the order given; one line when there are none. */
void show_list(struct strbuf *out, const struct report_style *style,
	       const struct show_item *items, size_t count);

/* Which question it answers: "keep", "grow" or "fastest". */
const char *show_mode(const struct record *record);

/* The same records for programs: schema autofit.records/1. */
void show_json(struct strbuf *out, const struct show_item *items, size_t count);

/* All of a record but its identity. path may be NULL. */
void show_record(struct strbuf *out, const struct report_style *style,
		 const struct record *record, const char *path);

#endif
