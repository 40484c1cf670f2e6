/* Tables: aligned columns for people, objects for programs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_TABLE_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_TABLE_H

#include "base/strbuf.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* How texts are laid out in columns. */
struct report_columns {
	const struct strlist *cells; /* row by row */
	size_t count;                /* of columns; 0: nothing is printed */
	const bool *is_right;        /* aligned so, of each; NULL: none is */
	const bool *is_beside;       /* never below the one before; NULL */
	size_t keys;                 /* the first that name a row; 0: one */
	size_t indent;               /* blanks before each line */
	size_t width;                /* of a line; 0: as much as they need */
	bool has_rule;               /* dashes stand below the first row */
};

/*
 * Two blanks between columns, none at the end of a line. Where a line has no
 * room for all columns, the widest are wrapped between words; where it has none
 * for their words either, the last columns stand below the others, again behind
 * those that name a row.
 */
void report_columns_print(struct strbuf *out,
			  const struct report_columns *columns);

enum report_table_kind {
	TABLE_TEXT,
	TABLE_COUNT,
	TABLE_BYTES,
	TABLE_FLAG,
	TABLE_BESIDE, /* a count that says something of the column before */
};

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

/* The next cell; its kind is its column's. Text NULL, count 0: none. */
void report_table_add_text(struct report_table *table, const char *text);
void report_table_add_number(struct report_table *table, int64_t number);
void report_table_add_count(struct report_table *table, int64_t number);
void report_table_add_none(struct report_table *table); /* "-", null */
void report_table_release(struct report_table *table);

size_t report_table_rows(const struct report_table *table);

/* Columns below their titles, two blanks before each line; no wider than
 * report_width(). */
void report_table_print(struct strbuf *out, const struct report_table *table);
/* An array with an object for each row. */
json_t *report_table_json(const struct report_table *table);

#endif
