/* A small table that is shown to people and to programs alike. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_TABLE_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_TABLE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum report_table_kind { TABLE_TEXT, TABLE_COUNT, TABLE_BYTES, TABLE_FLAG };

struct report_table_column {
	const char *key;   /* in JSON; NULL: in the text only */
	const char *title; /* in the text; NULL: in JSON only */
	enum report_table_kind kind;
};

struct report_table_cell {
	bool is_known;
	char *text;     /* TABLE_TEXT */
	int64_t number; /* all others */
};

/* Cells row by row; all zero but columns: empty. */
struct report_table {
	/* At least one; one without key and title ends them. */
	const struct report_table_column *columns;
	struct report_table_cell *cells;
	size_t count, capacity;
};

/* The next cell; its kind is its column's. */
void report_table_add_text(struct report_table *table, const char *text);
void report_table_add_number(struct report_table *table, int64_t number);
void report_table_add_none(struct report_table *table); /* "-", null */
void report_table_release(struct report_table *table);

size_t report_table_rows(const struct report_table *table);

/* Aligned columns below their titles, two blanks between and before. */
void report_table_print(struct strbuf *out, const struct report_table *table);
/* An array with an object for each row. */
json_t *report_table_json(const struct report_table *table);

#endif
