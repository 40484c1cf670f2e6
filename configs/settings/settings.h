/* The values in a config file, and a copy of it with some of them changed. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SETTINGS_SETTINGS_H
#define AUTOFIT_CONFIGS_SETTINGS_SETTINGS_H

#include "base/error.h"
#include "base/pool.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum settings_format {
	SETTINGS_YAML,   /* libyaml; aliases and anchors stay as they are */
	SETTINGS_JSON,   /* as jansson reads it, comments left out */
	SETTINGS_TOML,   /* key = value outside strings and comments */
	SETTINGS_PYTHON, /* name = value, dict(name=value), {"name": value} */
	SETTINGS_ARGS,   /* words of a command line in a file, --x 8 or --x=8 */
};

/* A larger file is no config: settings_read refuses it. */
#define SETTINGS_BYTES_MAX ((size_t)1024 * 1024)
/*
 * Of scalars, mappings and lists in one: settings_read refuses more. They are
 * data, and would not be read in the milliseconds that a command may wait: see
 * tests/bench/recognise.c.
 */
#define SETTINGS_VALUES_MAX ((size_t)6144)
#define SETTINGS_JSON_VALUES_MAX ((size_t)3072)
#define SETTINGS_DEPTH_MAX 64

/* One scalar. */
struct setting {
	/* "train.batch_size", "datasets[0].batch_size", "--bs" of ARGS */
	const char *key;
	const char *value; /* without quotes; "" for null; never NULL */
	size_t start, end; /* its bytes in the text, quotes included */
	unsigned line;     /* from 1 */
	const char *path;  /* the file that it stands in, where settings are put
			      together of several; NULL: the one that was read */
	/*
	 * A whole number may be written there: it is a scalar of its own, no
	 * alias, no expression, and nothing else refers to it by an anchor.
	 */
	bool is_scalar;
};

struct settings {
	enum settings_format format;
	struct setting *items;
	size_t count, capacity;
	struct pool texts; /* of the items */
	/* For settings_find_all, by a hash of a key's last part. */
	struct settings_names *names;
};

/* By the end of the file's name (.yaml .yml .json .toml .py .args). */
bool settings_format_of(const char *path, enum settings_format *format);

/*
 * Reads length bytes of text in the order of the file. What is wrong in it is
 * -EINVAL with "name:line: ...". A mapping that has a key twice keeps both,
 * the last counts. Python and TOML: what the scanner does not understand
 * (computed values, function calls) is there with is_scalar false and its
 * source text as value, or is left out; it is never guessed. The caller
 * releases the settings, whatever the result.
 */
int settings_read(struct settings *settings, enum settings_format format,
		  const char *name, const char *text, size_t length,
		  struct error *err);
void settings_release(struct settings *settings);

/* Each is looked for among all: no more are put together. */
#define SETTINGS_PUT_MAX ((size_t)1024)

enum settings_put {
	SETTINGS_PUT_NEW,  /* or as it was */
	SETTINGS_PUT_OVER, /* the key had another value */
	SETTINGS_PUT_FULL, /* there are SETTINGS_PUT_MAX */
};

/*
 * A value of another file, below a package ("" for none), which replaces that
 * of the same key. Its value and path stay the other's, who outlives these. No
 * number is written into such settings. They are looked into only after
 * settings_put_end, and then have no more put to them.
 */
enum settings_put settings_put(struct settings *settings, const char *package,
			       const struct setting *setting);
void settings_put_end(struct settings *settings);

/*
 * Settings that a name means, in the order of the file: at most max of them
 * are stored, the count of all is returned. With a dot: the whole key; else
 * its last part. "-" and "_" are one; [N] of a list in a key is skipped over
 * ("datasets.batch_size" means "datasets[0].batch_size" too).
 */
size_t settings_find_all(const struct settings *settings, const char *name,
			 const struct setting **found, size_t max);

/* value, for one of the settings that were read. */
struct settings_edit {
	const struct setting *setting;
	const char *value; /* a plain whole number */
};

/*
 * Appends the text with only the bytes of these values changed: quotes,
 * comments, anchors and order stay. The result is read again and must hold the
 * very same keys and bytes but for the edits (JSON: as jansson has it); else
 * -EINVAL and nothing is appended. after: what the new text holds, for the
 * caller to release whatever the result; NULL: not wanted.
 */
int settings_change(struct strbuf *out, const struct settings *settings,
		    const char *text, size_t length,
		    const struct settings_edit *edits, size_t edit_count,
		    struct settings *after, struct error *err);

/*
 * May the file name others by where it lies: _base_, !include, defaults:,
 * ./x, ../x, ${...}, a value like base.yaml? Then a copy must stand beside it.
 */
bool settings_has_references(const struct settings *settings, const char *text,
			     size_t length);

#endif
