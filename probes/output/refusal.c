/* A line of output that tells of a write that was refused. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/refusal.h"

#include "probes/output/refusal_name.h"
#include "probes/output/span.h"

#include <stdint.h>
#include <string.h>

/* As many places of one line are looked at. */
#define PLACES_MAX 8

enum phrase_kind {
	PHRASE_DENIED,    /* of a file that is named, or of a write */
	PHRASE_READ_ONLY, /* always */
	PHRASE_NAMED,     /* of a file that is named as one */
	PHRASE_BUSY,      /* of an entry of shared memory */
};

/* Texts of strerror(), as they are and as Go and node write them. */
static const struct phrase {
	const char *text;
	enum phrase_kind kind;
} phrases[] = {
	/* The first letter is compared apart. */
	{ "ermission denied", PHRASE_DENIED },
	{ "ead-only file system", PHRASE_READ_ONLY },
	{ "peration not permitted", PHRASE_NAMED },
	{ "nvalid cross-device link", PHRASE_DENIED },
	{ "ross-device link not permitted", PHRASE_DENIED },
	{ "alue too large for defined data type", PHRASE_NAMED },
	{ "evice or resource busy", PHRASE_BUSY },
};

/* SQLite names no file, and no errno. */
static const char *const database_phrases[] = {
	"attempt to write a readonly database",
	"unable to open database file",
};

/* "/proc/self/cwd/x", "/proc/7/fd/3/x": files after all, by a detour. */
static bool is_file_of_process(struct span name)
{
	const char *end = span_end(name);
	const char *at;

	if (!span_begins(name, "/proc/"))
		return false;
	name = span_from(name.at + 6, end);
	at = memchr(name.at, '/', name.length);
	if (!at)
		return false;
	name = span_from(at + 1, end);
	if (span_begins(name, "cwd/") || span_begins(name, "root/"))
		return true;
	/* One of its descriptors may be anything; what lies in one is not. */
	return span_begins(name, "fd/") &&
	       memchr(name.at + 3, '/', name.length - 3);
}

/* What is the kernel's or a device is no file that a training writes. */
static bool is_no_file(struct span name)
{
	if (span_begins(name, "/dev/shm/") || is_file_of_process(name))
		return false;
	return span_begins(name, "/dev/") || span_begins(name, "/proc/") ||
	       span_begins(name, "/sys/");
}

static void copy_name(char path[REFUSAL_PATH_MAX], struct span name)
{
	size_t used = 0;

	for (size_t i = 0; i < name.length && used + 1 < REFUSAL_PATH_MAX;
	     i++) {
		/* Python's repr: \' and \\. */
		if (name.at[i] == '\\' && i + 1 < name.length &&
		    strchr("'\"\\", name.at[i + 1]))
			i++;
		path[used++] = name.at[i];
	}
	path[used] = '\0';
}

/* What may follow a phrase that is a report, not a part of a sentence. */
static bool is_end_of_report(struct span rest)
{
	static const char *const follow[] = {
		".", ";",          ":",       ",",    ")",  "]",  "}",   "\"",
		"'", " (os error", " (errno", " at ", " [", " {", "\\n",
	};

	if (!span_trimmed(rest).length)
		return true;
	for (size_t i = 0; i < sizeof(follow) / sizeof(*follow); i++)
		if (span_begins(rest, follow[i]))
			return true;
	return false;
}

/* Rust names no file; perror() may name the call instead. */
static bool is_nameless_write(struct span before, struct span rest)
{
	if (span_ends(before, "message: \"") ||
	    span_ends(before, "I/O error: ") || span_begins(rest, " (os error"))
		return true;
	if (!span_ends(before, ": "))
		return false;
	before.length -= 2;
	return refusal_is_call(span_cut_part(&before));
}

/* EPERM is said of priorities, policies and CUDA streams far more often. */
static bool is_certain_name(struct span line, struct span name)
{
	return name.length &&
	       (memchr(name.at, '/', name.length) ||
		(name.at > line.at && strchr("'\"`\x98", name.at[-1])));
}

/* A report, not a part of a sentence or of a longer word. */
static bool is_said(struct span before, struct span rest)
{
	static const char *const starts[] = {
		": ", "; ", "] ", " (", "message: \"", "error message = '",
	};

	if (!is_end_of_report(rest))
		return false;
	if (!span_trimmed(before).length)
		return true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (span_ends(before, starts[i]))
			return true;
	return false;
}

static bool is_certain(const struct phrase *phrase, struct span line,
		       struct span name, bool is_nameless)
{
	switch (phrase->kind) {
	case PHRASE_DENIED:
		return name.length || is_nameless;
	case PHRASE_READ_ONLY:
		return true;
	case PHRASE_NAMED:
		return is_certain_name(line, name);
	case PHRASE_BUSY:
		return span_begins(name, "/dev/shm/");
	}
	return false;
}

static bool report_at(struct span line, const struct phrase *phrase,
		      const char *at, char path[REFUSAL_PATH_MAX])
{
	struct span before = span_from(line.at, at - 1);
	struct span rest = span_from(at + strlen(phrase->text), span_end(line));
	struct span name;

	if (!is_said(before, rest))
		return false;
	name = refusal_name_behind(line, rest);
	if (!name.length && !refusal_name_before(line, before, &name))
		return false;
	if (!is_certain(phrase, line, name, is_nameless_write(before, rest)) ||
	    is_no_file(name))
		return false;
	copy_name(path, name);
	return true;
}

/* "RuntimeError: File ckpt.pt cannot be opened.": torch.save since 1.6. */
static bool torch_report(struct span line, char path[REFUSAL_PATH_MAX])
{
	const char *end = span_find(line, " cannot be opened.");
	const char *at = end ? span_find(line, "RuntimeError: File ") : NULL;

	if (!at || at + 19 >= end)
		return false;
	copy_name(path, span_from(at + 19, end));
	return true;
}

/*
 * SQLAlchemy: "(sqlite3.OperationalError) attempt to ...", rusqlite:
 * "Some("attempt to ...", SQLite's shell: "in prepare, attempt to ... (8)".
 */
static bool is_said_of_database(struct span before, struct span rest)
{
	if (span_begins(rest, " ("))
		rest.length = 0;
	return is_said(before, rest) ||
	       (is_end_of_report(rest) &&
		(span_ends(before, ") ") || span_ends(before, ", ") ||
		 span_ends(before, "(\"")));
}

/* "sqlite3.OperationalError: attempt to write a readonly database" */
static bool database_report(struct span line)
{
	for (size_t i = 0;
	     i < sizeof(database_phrases) / sizeof(*database_phrases); i++) {
		const char *text = database_phrases[i];
		const char *at = span_find(line, text);

		if (at && is_said_of_database(
				  span_from(line.at, at),
				  span_from(at + strlen(text), span_end(line))))
			return true;
	}
	return false;
}

#define GROUP(a, b, c, d)                                                      \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |            \
	 (uint32_t)(d) << 24)

/*
 * Nearly every line of output passes here and is none: only each fourth group
 * of four bytes is looked at. Of seven bytes that every report has, one of the
 * four groups falls on such a place: " denied", "ead-onl", "ermitte",
 * "ross-de", "oo larg", "ource b", "readonl", "atabase", and "rror: F" of
 * torch.
 */
static bool may_report(const char *line, size_t length)
{
	for (size_t i = 0; i + 4 <= length; i += 4) {
		const unsigned char *b = (const unsigned char *)line + i;

		switch (GROUP(b[0], b[1], b[2], b[3])) {
		case GROUP(' ', 'd', 'e', 'n'):
		case GROUP('d', 'e', 'n', 'i'):
		case GROUP('e', 'n', 'i', 'e'):
		case GROUP('n', 'i', 'e', 'd'):
		case GROUP('e', 'a', 'd', '-'):
		case GROUP('a', 'd', '-', 'o'):
		case GROUP('d', '-', 'o', 'n'):
		case GROUP('-', 'o', 'n', 'l'):
		case GROUP('e', 'r', 'm', 'i'):
		case GROUP('r', 'm', 'i', 't'):
		case GROUP('m', 'i', 't', 't'):
		case GROUP('i', 't', 't', 'e'):
		case GROUP('r', 'o', 's', 's'):
		case GROUP('o', 's', 's', '-'):
		case GROUP('s', 's', '-', 'd'):
		case GROUP('s', '-', 'd', 'e'):
		case GROUP('o', 'o', ' ', 'l'):
		case GROUP('o', ' ', 'l', 'a'):
		case GROUP(' ', 'l', 'a', 'r'):
		case GROUP('l', 'a', 'r', 'g'):
		case GROUP('o', 'u', 'r', 'c'):
		case GROUP('u', 'r', 'c', 'e'):
		case GROUP('r', 'c', 'e', ' '):
		case GROUP('c', 'e', ' ', 'b'):
		case GROUP('r', 'e', 'a', 'd'):
		case GROUP('e', 'a', 'd', 'o'):
		case GROUP('a', 'd', 'o', 'n'):
		case GROUP('d', 'o', 'n', 'l'):
		case GROUP('a', 't', 'a', 'b'):
		case GROUP('t', 'a', 'b', 'a'):
		case GROUP('a', 'b', 'a', 's'):
		case GROUP('b', 'a', 's', 'e'):
		case GROUP('r', 'r', 'o', 'r'):
		case GROUP('r', 'o', 'r', ':'):
		case GROUP('o', 'r', ':', ' '):
		case GROUP('r', ':', ' ', 'F'):
			return true;
		default:
			break;
		}
	}
	return false;
}

bool refusal_line(const char *line, size_t length, char path[REFUSAL_PATH_MAX])
{
	const struct span whole = { line, length };

	path[0] = '\0';
	if (!may_report(line, length))
		return false;
	for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++) {
		struct span rest = whole;
		const char *at;

		for (int place = 0; place < PLACES_MAX &&
				    (at = span_find(rest, phrases[i].text));
		     place++) {
			if (at > line &&
			    report_at(whole, &phrases[i], at, path))
				return true;
			rest = span_from(at + 1, span_end(whole));
		}
	}
	return torch_report(whole, path) || database_report(whole);
}
