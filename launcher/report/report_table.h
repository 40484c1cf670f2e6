/* A small table that is shown to people and to programs alike. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_TABLE_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_TABLE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum sheet_kind { SHEET_TEXT, SHEET_COUNT, SHEET_BYTES, SHEET_FLAG };

struct sheet_column {
	const char *key;   /* in JSON; NULL: in the text only */
	const char *title; /* in the text; NULL: in JSON only */
	enum sheet_kind kind;
};

struct sheet_cell {
	bool is_known;
	char *text;     /* SHEET_TEXT */
	int64_t number; /* all others */
};

/* Cells row by row; all zero but columns: empty. */
struct sheet {
	/* At least one; one without key and title ends them. */
	const struct sheet_column *columns;
	struct sheet_cell *cells;
	size_t count, capacity;
};

/* The next cell; its kind is its column's. */
void sheet_add_text(struct sheet *sheet, const char *text);
void sheet_add_number(struct sheet *sheet, int64_t number);
void sheet_add_none(struct sheet *sheet); /* "-", null */
void sheet_release(struct sheet *sheet);

size_t sheet_rows(const struct sheet *sheet);

/* Aligned columns below their titles, two blanks between and before. */
void sheet_print(struct strbuf *out, const struct sheet *sheet);
/* An array with an object for each row. */
json_t *sheet_json(const struct sheet *sheet);

#endif
