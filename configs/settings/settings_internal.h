/* Helpers of the readers of config files: their place, and what they found. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SETTINGS_SETTINGS_INTERNAL_H
#define AUTOFIT_CONFIGS_SETTINGS_SETTINGS_INTERNAL_H

#include "base/name.h"
#include "configs/settings/settings.h"

/* A path that got a value there: what was below it before is gone. */
struct settings_place {
	const char *path; /* one of the settings' texts */
	size_t at;
};

/* A text that is being read. Nothing in it is NUL. */
struct settings_reader {
	struct settings *settings;
	const char *name;
	const char *text;
	size_t length;
	size_t at;          /* the next byte */
	struct strbuf path; /* of the value that is read, "" at the top */
	unsigned depth;
	struct settings_place *places;
	size_t place_count, place_capacity;
	size_t bytes;   /* of all items and places so far */
	size_t line_at; /* `line` is the line of this byte */
	unsigned line;
	struct error *err;
};

/* Bytes of the text that are one value, quotes included. */
struct settings_piece {
	size_t start, end;
	bool is_scalar;
};

/* -EINVAL with "name:line: problem" of the byte at. */
int settings_fail(struct settings_reader *reader, size_t at,
		  const char *problem);

/*
 * settings_read, of a reader with the settings (empty, with their format), the
 * text, what it is called, and err.
 */
int settings_read_all(struct settings_reader *reader);

/*
 * Appends an item at the present path. An expression (${x}, {{x}}) is no
 * scalar, whatever the piece says.
 */
int settings_add(struct settings_reader *reader,
		 const struct settings_piece *piece, const char *value,
		 size_t length);
/* As settings_add; the value is the piece itself. */
int settings_add_source(struct settings_reader *reader, size_t start,
			size_t end, bool is_scalar);

/* Appends to a path; what it was before is its length before. */
void settings_path_key(struct strbuf *path, const char *key, size_t length);
void settings_path_index(struct strbuf *path, size_t index);
void settings_path_cut(struct strbuf *path, size_t length);

/* The path gets a new value at this byte. */
int settings_supersede(struct settings_reader *reader, size_t at);
/* As settings_supersede, for a value that has values of its own. */
int settings_enter(struct settings_reader *reader, size_t at);
void settings_leave(struct settings_reader *reader);

void settings_reader_release(struct settings_reader *reader);
/* Items that began below a path before it got another value: no scalars. */
void settings_mark_overridden(struct settings_reader *reader);

/* Indexes the names of all that was read, for settings_find_all. */
void settings_index_names(struct settings *settings);
void settings_release_names(struct settings *settings);

/* The readers. Each leaves the items of an error where they are. */
int settings_read_yaml(struct settings_reader *reader);
int settings_read_json(struct settings_reader *reader);
int settings_read_toml(struct settings_reader *reader);
int settings_read_python(struct settings_reader *reader);
int settings_read_args(struct settings_reader *reader);

/* Of a tag in full: may a number have it? Of a text without quotes. */
bool settings_is_yaml_number_tag(const char *tag);
bool settings_is_yaml_null(const char *value);
/* 010 is 8 to some programs and 10 to others. */
bool settings_is_yaml_octal(const char *value);
/* libyaml compares each directive with all before it: -EINVAL for many. */
int settings_check_directives(struct settings_reader *reader);

/* TOML without quotes: a number, true or false; a date or a time of day. */
bool settings_is_toml_scalar(const char *text, size_t length);
bool settings_is_toml_date(const char *text, size_t length);

/* settings_scan.c: bytes of TOML, Python and ARGS. */

/* "text", with its place; three quotes may hold line ends. */
struct settings_string {
	size_t start, end;           /* quotes included */
	size_t body_start, body_end; /* between them */
	bool is_triple;
	bool is_plain; /* on one line, without escapes */
};

enum settings_escapes { SETTINGS_NO_ESCAPES, SETTINGS_ESCAPES };

/* From the opening quote on; the reader is then behind the closing one. */
int settings_scan_string(struct settings_reader *reader,
			 enum settings_escapes escapes,
			 struct settings_string *string);

/* The byte that is so far ahead; NUL: none. */
char settings_peek(const struct settings_reader *reader, size_t ahead);
/* Are these the next bytes? */
bool settings_starts(const struct settings_reader *reader, const char *text);
void settings_skip_bom(struct settings_reader *reader);
/* To the end of the line, which is not skipped. */
void settings_skip_line(struct settings_reader *reader);

static inline bool settings_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A letter of Python's or TOML's names. */
static inline bool settings_is_word(char c)
{
	return settings_is_letter(c) || name_is_digit(c) || c == '_';
}

#endif
