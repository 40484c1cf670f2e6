/* A published guide to GPU memory as data: its rules and its tables. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_PROFILE_H
#define AUTOFIT_BASE_PROFILE_H

#include "base/strlist.h"

#include <stddef.h>

/* Columns of a table; also fields of other lines that "|" divides. */
#define PROFILE_COLUMNS_MAX 8
/* Names in [inputs], and in [rules]. */
#define PROFILE_NAMES_MAX 48
/* Bytes of a name, without the NUL. */
#define PROFILE_NAME_MAX 31

/* What a section is for; docs/profiles.md has the language. */
enum profile_kind {
	PROFILE_INPUTS,   /* name = value, where the caller says none */
	PROFILE_CHOICES,  /* NAME: words for numbers of the input NAME */
	PROFILE_RULES,    /* name = expression of inputs, rules above it */
	PROFILE_ANCHORS,  /* NAME: x = y, lines between them */
	PROFILE_BANDS,    /* NAME: limit = text for what is below it */
	PROFILE_ESTIMATE, /* NAME: parts of what is estimated */
	PROFILE_TABLE,    /* NAME: printed by --tables */
	PROFILE_ADVICE,   /* NAME: a list of texts */
	PROFILE_DIFFERS,  /* NAME: where the guide and physics part */
	PROFILE_KINDS,
};

struct profile_line {
	const char *path; /* its file; owned by profile->paths */
	unsigned line;
	char *key; /* "row", the name of a rule, ... */
	char *text;
	double at;     /* anchors, bands: the key; INFINITY for "else" */
	double number; /* anchors, choices: the text */
};

struct profile_section {
	enum profile_kind kind;
	char *name; /* "" where the kind has only one section */
	struct profile_line *lines;
	size_t count, capacity;
};

/* Made by profile_read (configs/profiles/profile.h); all zero: empty. */
struct profile {
	char *name;
	char *description;
	char *unit;        /* "GB", as the guide writes it */
	double unit_bytes; /* of one, in the guide's own rules */
	char *extends;     /* whose rules and tables it has too; NULL */
	struct strlist paths;
	struct profile_section *sections;
	size_t count, capacity;
};

#endif
