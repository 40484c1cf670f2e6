/* Tables of plain cells: a line that names the columns, then rows. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_CSV_H
#define AUTOFIT_CONFIGS_FILES_CSV_H

#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>

#define CSV_COLUMNS_MAX 64

/* A piece of a line without blanks around it, not terminated. */
struct csv_cell {
	const char *text;
	size_t length;
};

/* What is wrong with the row, or NULL. A cell for each column that is known,
 * empty where the file has none. */
typedef const char *csv_row_cb(void *context, const struct csv_cell *cells);

struct csv_table {
	const char *const *columns; /* known ones, NULL ends them */
	const char *expects; /* "name and size": those that must be there */
	size_t needed;       /* so many of columns, from the first */
	csv_row_cb *on_row;
	void *context;
};

/*
 * Lines from # on are comments; cells are not quoted. A line that cannot be
 * used is passed over with "path:line: ..." in warnings, at most 20 of them.
 */
void csv_read(const struct csv_table *table, const char *path, const char *text,
	      size_t length, struct strlist *warnings);
/* The same of a file that is built in, and of one that need not be there. */
void csv_read_builtin(const struct csv_table *table, const char *path,
		      struct strlist *warnings);
void csv_read_file(const struct csv_table *table, const char *path,
		   struct strlist *warnings);

/* A name of text_size - 1 bytes of ASCII at most, with a letter or digit. */
bool csv_cell_name(struct csv_cell cell, char *text, size_t text_size);

#endif
