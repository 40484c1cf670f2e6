/* Versions of what a tuning ran on: frameworks that were imported, driver. */
/* SPDX-License-Identifier: MIT */
/*
 * The hook in a probe tells of each package the file that changes with its
 * version, such as torch/version.py; the record keeps a stamp of it. Here the
 * file is read for a line like __version__ = '2.9.0'. A package that says its
 * version in another way is left out.
 */
#include "launcher/request/versions.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER_FILE "/proc/driver/nvidia/version"
#define VERSION_FILE_MAX ((size_t)65536)
#define VERSION_MAX 64

/* Of a version: no blank, nothing that would end a word of a report. */
static bool is_version_byte(char c)
{
	return isalnum((unsigned char)c) || strchr("._+-", c);
}

/* The version at the text, which begins with a digit; NULL: it is none. */
static char *version_at(const char *text)
{
	size_t length = 0;

	if (!isdigit((unsigned char)*text))
		return NULL;
	while (text[length] && is_version_byte(text[length]))
		length++;
	return length <= VERSION_MAX ? xstrndup(text, length) : NULL;
}

/* What a line "NAME = '...'" or "NAME: str = '...'" quotes. */
static char *quoted_on_line(const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *end = line + strcspn(line, "\n");
	const char *quote;

	if (strncmp(line, name, length) != 0 ||
	    (line[length] != ' ' && line[length] != '=' && line[length] != ':'))
		return NULL;
	quote = line + strcspn(line, "'\"\n");
	return quote < end ? version_at(quote + 1) : NULL;
}

char *versions_of_python(const char *text)
{
	static const char *const names[] = { "__version__", "version",
					     "full_version", "VERSION" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (const char *line = text; *line;
		     line += strcspn(line, "\n"), line += *line == '\n') {
			char *version = quoted_on_line(line, names[i]);

			if (version)
				return version;
		}
	}
	return NULL;
}

char *versions_of_driver(const char *text)
{
	const char *line = text + strcspn(text, "\n");

	/* The first word with a dot after digits: "... Module  550.54.14 ..."
	 */
	for (const char *at = text; at < line; at++) {
		size_t digits = strspn(at, "0123456789");

		if (digits && at[digits] == '.' && at > text && at[-1] == ' ')
			return version_at(at);
	}
	return NULL;
}

static char *version_of_file(const char *path, char *(*reading)(const char *))
{
	struct strbuf text = STRBUF_INIT;
	char *version = NULL;

	if (textfile_read(path, VERSION_FILE_MAX, &text, NULL) >= 0)
		version = reading(strbuf_text(&text));
	strbuf_release(&text);
	return version;
}

/* "torch" of "/usr/lib/python3/dist-packages/torch/version.py". */
static char *package_of(const char *path)
{
	const char *file = strrchr(path, '/');
	const char *start = file;

	while (start && start > path && start[-1] != '/')
		start--;
	return file && start < file ? xstrndup(start, (size_t)(file - start))
				    : NULL;
}

static bool is_version_file(const char *path)
{
	static const char *const names[] = { "/version.py", "/_version.py",
					     "/__version__.py",
					     "/__about__.py" };
	const char *file = strrchr(path, '/');

	for (size_t i = 0; file && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(file, names[i]) == 0)
			return true;
	return false;
}

void versions_find(const struct strlist *stamps, struct strlist *out)
{
	char *driver;

	for (size_t i = 0; i < stamps->count; i++) {
		const char *path = strchr(stamps->items[i], ' ');
		char *package, *version;

		if (!path || !is_version_file(path + 1))
			continue;
		package = package_of(path + 1);
		version =
			package ? version_of_file(path + 1, versions_of_python)
				: NULL;
		if (version)
			strlist_addf(out, "%s %s", package, version);
		free(version);
		free(package);
	}
	driver = version_of_file(DRIVER_FILE, versions_of_driver);
	if (driver)
		strlist_addf(out, "driver %s", driver);
	free(driver);
}
