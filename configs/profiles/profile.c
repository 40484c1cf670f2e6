/* Profiles of published guides: one INI file each, see docs/profiles.md. */
/* SPDX-License-Identifier: MIT */
#include "configs/profiles/profile.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "configs/files/ini.h"
#include "configs/profiles/profile_shape.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "configs/profiles/"
#define SUFFIX ".ini"
#define FILE_MAX_BYTES ((size_t)256 * 1024)
#define SECTIONS_MAX 128
#define LINES_MAX 64
#define FILE_NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-."

/* A file while it is read into a profile. */
struct profile_reading {
	struct profile *profile;
	const char *folder; /* for what it extends */
	const char *path;   /* owned by profile->paths */
	bool is_base;       /* another profile extends it */
	unsigned line;      /* of the entry before */
};

static int profile_read_file(struct profile *profile, const char *name,
			     const char *folder, bool is_base,
			     struct error *err);

static int profile_set_text(char **place, const char *text)
{
	if (!*place)
		*place = xstrdup(text);
	return 0;
}

static int set_unit_bytes(struct profile *profile, const char *text,
			  struct error *err)
{
	double number;
	int result = profile_number(text, &number, err);

	if (result < 0)
		return result;
	if (number < 1)
		return error_set(err, -EINVAL,
				 "unit_bytes = %s: at least 1 byte", text);
	if (profile->unit_bytes < 1)
		profile->unit_bytes = number;
	return 0;
}

static int set_extends(struct profile_reading *reading, const char *name,
		       struct error *err)
{
	if (reading->is_base || reading->profile->extends)
		return error_set(err, -EINVAL,
				 "extends = %s: a profile extends one other, "
				 "which extends none",
				 name);
	reading->profile->extends = xstrdup(name);
	return profile_read_file(reading->profile, name, reading->folder, true,
				 err);
}

/* What stands in [profile]. A base tells only what is not told yet. */
static int set_about(struct profile_reading *reading,
		     const struct ini_entry *entry, struct error *err)
{
	struct profile *profile = reading->profile;

	if (strcmp(entry->key, "description") == 0)
		return reading->is_base
			       ? 0
			       : profile_set_text(&profile->description,
						  entry->value);
	if (strcmp(entry->key, "unit") == 0)
		return profile_set_text(&profile->unit, entry->value);
	if (strcmp(entry->key, "unit_bytes") == 0)
		return set_unit_bytes(profile, entry->value, err);
	if (strcmp(entry->key, "extends") == 0)
		return set_extends(reading, entry->value, err);
	return error_set(err, -EINVAL, "[profile] has no key %s", entry->key);
}

static struct profile_section *
section_open(struct profile *profile, enum profile_kind kind, const char *name)
{
	struct profile_section *section = profile->sections;

	for (size_t i = 0; i < profile->count; i++, section++)
		if (section->kind == kind && strcmp(section->name, name) == 0)
			return section;
	if (profile->count == SECTIONS_MAX)
		return NULL;
	profile->sections = xgrow(profile->sections, profile->count,
				  &profile->capacity, sizeof(*section));
	section = &profile->sections[profile->count++];
	*section =
		(struct profile_section){ .kind = kind, .name = xstrdup(name) };
	return section;
}

static void line_release(struct profile_line *line)
{
	free(line->key);
	free(line->text);
}

static struct profile_line *line_find(struct profile_section *section,
				      const char *key)
{
	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->lines[i].key, key) == 0)
			return &section->lines[i];
	return NULL;
}

/* Each name stands once; the extending file may say another value. */
static int place_line(struct profile_section *section, enum profile_shape shape,
		      struct profile_line *line, struct error *err)
{
	struct profile_line *old =
		shape == SHAPE_KEYS ? NULL : line_find(section, line->key);
	size_t most = shape == SHAPE_NAMED ? PROFILE_NAMES_MAX : LINES_MAX;

	if (old && old->path == line->path)
		return error_set(err, -EINVAL, "%s stands in line %u already",
				 line->key, old->line);
	if (old) {
		line_release(old);
		*old = *line;
		return 0;
	}
	if (section->count == most)
		return error_set(err, -EINVAL,
				 "a section of more than %zu lines", most);
	section->lines = xgrow(section->lines, section->count,
			       &section->capacity, sizeof(*line));
	section->lines[section->count++] = *line;
	return 0;
}

/* An indented line: more of the text above it. */
static bool continue_line(struct profile_reading *reading,
			  struct profile_section *section,
			  const struct ini_entry *entry)
{
	const struct profile_key_rule *rule = profile_key_rule(
		&profile_kind_rules[section->kind], entry->key);
	struct profile_line *last;
	char *joined;

	/* Lines without one between them are of the same section. */
	if (!rule || !rule->is_joined || reading->line + 1 != entry->line ||
	    !section->count)
		return false;
	last = &section->lines[section->count - 1];
	if (strcmp(last->key, entry->key) != 0)
		return false;
	joined = xasprintf("%s %s", last->text, entry->value);
	free(last->text);
	last->text = joined;
	return true;
}

static int profile_add_line(struct profile_reading *reading,
			    struct profile_section *section,
			    const struct ini_entry *entry, struct error *err)
{
	const struct profile_kind_rule *rule =
		&profile_kind_rules[section->kind];
	struct profile_line line = { .path = reading->path,
				     .line = entry->line };
	int result;

	line.key = xstrdup(entry->key);
	line.text = xstrdup(entry->value);
	result = profile_line_parse(rule, &line, err);
	if (result == 0)
		result = place_line(section, rule->shape, &line, err);
	if (result < 0)
		line_release(&line);
	return result;
}

/* It is printed as it is, on terminals too. */
static int check_ascii(const struct ini_entry *entry, struct error *err)
{
	for (const char *c = entry->value; *c; c++)
		if (*c < ' ' || *c > '~')
			return error_set(err, -EINVAL,
					 "%s has a byte that is not plain "
					 "ASCII",
					 entry->key);
	return 0;
}

static int profile_on_entry(void *context, const struct ini_entry *entry,
			    struct error *err)
{
	struct profile_reading *reading = context;
	struct profile_section *section;
	enum profile_kind kind = PROFILE_KINDS;
	const char *name = "";
	int result;

	if (!*entry->value)
		return error_set(err, -EINVAL, "%s has no value", entry->key);
	result = check_ascii(entry, err);
	if (result < 0)
		return result;
	if (strcmp(entry->section, "profile") == 0)
		return set_about(reading, entry, err);
	result = profile_section_parse(entry->section, &kind, &name, err);
	if (result < 0)
		return result;
	/* What is estimated is the choice of the profile that extends. */
	if (reading->is_base && kind == PROFILE_ESTIMATE)
		return 0;
	section = section_open(reading->profile, kind, name);
	if (!section)
		return error_set(err, -EINVAL, "more than %d sections",
				 SECTIONS_MAX);
	if (!continue_line(reading, section, entry))
		result = profile_add_line(reading, section, entry, err);
	reading->line = entry->line;
	return result;
}

static int profile_parse_text(struct profile_reading *reading, const char *path,
			      const char *text, size_t length,
			      struct error *err)
{
	struct strlist *paths = &reading->profile->paths;

	strlist_add(paths, path);
	reading->path = paths->items[paths->count - 1];
	return ini_read(path, text, length, profile_on_entry, reading, err);
}

static int profile_unknown(const char *name, struct error *err)
{
	struct strlist names = STRLIST_INIT;
	struct strbuf all = STRBUF_INIT;
	int result;

	profile_names(&names);
	for (size_t i = 0; i < names.count; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", names.items[i]);
	result = error_set(err, -ENOENT,
			   "no profile is called \"%.64s\"; there are %s", name,
			   strbuf_text(&all));
	strbuf_release(&all);
	strlist_release(&names);
	return result;
}

static int profile_read_builtin(struct profile_reading *reading,
				const char *name, struct error *err)
{
	char *path = xasprintf(FOLDER "%s" SUFFIX, name);
	const struct builtin_file *file = builtin_find(path);
	int result = file ? profile_parse_text(reading, path, file->data,
					       file->size, err)
			  : profile_unknown(name, err);

	free(path);
	return result;
}

static int profile_read_file(struct profile *profile, const char *name,
			     const char *folder, bool is_base,
			     struct error *err)
{
	struct profile_reading reading = { .profile = profile,
					   .folder = folder,
					   .is_base = is_base };
	struct strbuf text = STRBUF_INIT;
	char *path;
	int result;

	if (!*name || strspn(name, FILE_NAME_CHARS) != strlen(name))
		return profile_unknown(name, err);
	if (!folder)
		return profile_read_builtin(&reading, name, err);
	path = xasprintf("%s/%s" SUFFIX, folder, name);
	result = textfile_read(path, FILE_MAX_BYTES, &text, err);
	if (result == 0)
		result = profile_parse_text(&reading, path, strbuf_text(&text),
					    text.length, err);
	else if (result > 0)
		result = error_set(err, -EFBIG, "%s: over %zu bytes", path,
				   FILE_MAX_BYTES);
	else if (result == -ENOENT)
		result = profile_read_builtin(&reading, name, err);
	free(path);
	strbuf_release(&text);
	return result;
}

int profile_read(struct profile *profile, const char *name, const char *folder,
		 struct error *err)
{
	int result;

	*profile = (struct profile){ .name = xstrdup(name) };
	result = profile_read_file(profile, name, folder, false, err);
	return result < 0 ? result : profile_shape_check(profile, err);
}

int profile_parse(struct profile *profile, const char *path, const char *text,
		  size_t length, struct error *err)
{
	struct profile_reading reading = { .profile = profile };
	int result;

	*profile = (struct profile){ .name = xstrdup(path) };
	result = profile_parse_text(&reading, path, text, length, err);
	return result < 0 ? result : profile_shape_check(profile, err);
}

void profile_release(struct profile *profile)
{
	for (size_t i = 0; i < profile->count; i++) {
		struct profile_section *section = &profile->sections[i];

		for (size_t j = 0; j < section->count; j++)
			line_release(&section->lines[j]);
		free(section->lines);
		free(section->name);
	}
	free(profile->sections);
	free(profile->name);
	free(profile->description);
	free(profile->unit);
	free(profile->extends);
	strlist_release(&profile->paths);
	*profile = (struct profile){ 0 };
}

void profile_names(struct strlist *names)
{
	for (const struct builtin_file *file = builtin_files; file->path;
	     file++) {
		size_t length = strlen(file->path);
		const size_t around = strlen(FOLDER) + strlen(SUFFIX);

		if (strncmp(file->path, FOLDER, strlen(FOLDER)) != 0 ||
		    length <= around)
			continue;
		strlist_addf(names, "%.*s", (int)(length - around),
			     file->path + strlen(FOLDER));
	}
}
