/* A line of output that tells of a write that was refused. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/refusal.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* As many places of one line are looked at. */
#define PLACES_MAX 8

struct span {
	const char *at;
	size_t length;
};

/* Texts of strerror(), as they are and as Go and node write them. */
static const struct phrase {
	const char *text;
	enum { PHRASE_DENIED, PHRASE_READ_ONLY, PHRASE_NOT_PERMITTED } kind;
} phrases[] = {
	/* The first letter is compared apart. */
	{ "ermission denied", PHRASE_DENIED },
	{ "ead-only file system", PHRASE_READ_ONLY },
	{ "peration not permitted", PHRASE_NOT_PERMITTED },
};

/* What stands before the phrase when it is not about a file that is written. */
static const char *const no_writes[] = {
	"for reading",
	"open directory",
	"read directory",
	"cannot access",
	"cannot stat",
	"cannot read",
	"execute",
	"fork/exec",
	"exec",
	"cd",
	"connect",
	"dial",
	"bind",
	"listen",
	"socket",
	"accept",
	"ioctl",
	"ptrace",
	"mlock",
	"mbind",
	"mmap",
	"set_mempolicy",
	"get_mempolicy",
	"affinity",
	"nice",
	"niceness",
	"setpriority",
	"limit",
	"setrlimit",
	"perf_event_open",
	"clone",
	"unshare",
	"kernel buffer",
	"sched_setscheduler",
	"on fopen",
	"shmget",
	"semget",
	"sudo",
	"su",
	"read",
};

/* Programs that only read, and those that change no file of their own. */
static const char *const no_writers[] = {
	"cat: ",  "find: ", "grep: ", "egrep: ", "wc: ",     "ls: ",
	"du: ",   "head: ", "tail: ", "less: ",  "stat: ",   "md5sum: ",
	"file: ", "diff: ", "zcat: ", "mount: ", "umount: ",
};

/* Calls that perror() names instead of the file. */
static const char *const calls[] = {
	"open",   "fopen",  "openat",    "creat",    "mkdir", "write",
	"fwrite", "rename", "unlink",    "link",     "rmdir", "symlink",
	"chmod",  "utime",  "ftruncate", "truncate",
};

/* Words between what failed and the name of the file. */
static const char *const verbs[] = {
	"cannot ",    "can't ",   "could not ", "couldn't ", "failed to ",
	"error ",     "open ",    "opening ",   "openat ",   "create ",
	"creating ",  "mkdir ",   "mkdirat ",   "creat ",    "touch ",
	"write ",     "writing ", "remove ",    "unlink ",   "unlinkat ",
	"rename ",    "chmod ",   "chown ",     "symlink ",  "link ",
	"truncate ",  "to ",      "the ",       "file ",     "directory ",
	"temporary ", "output ",  "lock ",      "utime ",    "fopen ",
};

static struct span span_from(const char *at, const char *end)
{
	return (struct span){ at, at < end ? (size_t)(end - at) : 0 };
}

static const char *end_of(struct span span)
{
	return span.at + span.length;
}

static bool begins(struct span span, const char *text)
{
	size_t length = strlen(text);

	return span.length >= length && memcmp(span.at, text, length) == 0;
}

/* As begins, whatever the case of the span. */
static bool begins_word(struct span span, const char *text)
{
	return span.length >= strlen(text) &&
	       strncasecmp(span.at, text, strlen(text)) == 0;
}

static bool ends(struct span span, const char *text)
{
	size_t length = strlen(text);

	return span.length >= length &&
	       memcmp(end_of(span) - length, text, length) == 0;
}

static bool is(struct span span, const char *text)
{
	return span.length == strlen(text) && begins(span, text);
}

static const char *find(struct span span, const char *text)
{
	return memmem(span.at, span.length, text, strlen(text));
}

static struct span without_blanks(struct span span)
{
	while (span.length && isspace((unsigned char)*span.at)) {
		span.at++;
		span.length--;
	}
	while (span.length && isspace((unsigned char)end_of(span)[-1]))
		span.length--;
	return span;
}

/* Does a word of it, or several in a row, equal text? */
static bool has_word(struct span span, const char *text)
{
	size_t length = strlen(text);
	const char *at;

	while ((at = find(span, text))) {
		const char *behind = at + length;
		bool starts =
			at == span.at || !(isalnum((unsigned char)at[-1]) ||
					   strchr("_./-", at[-1]));

		if (starts && (behind == end_of(span) ||
			       !(isalnum((unsigned char)*behind) ||
				 strchr("_./-", *behind))))
			return true;
		span = span_from(behind, end_of(span));
	}
	return false;
}

/* Python's repr, node, coreutils: what is between the quotes; or nothing. */
static struct span quoted(struct span span, const char **behind)
{
	const char *end = end_of(span);
	const char *at;

	if (begins(span, "b'") || begins(span, "b\""))
		span = span_from(span.at + 1, end);
	if (!span.length || !strchr("'\"", *span.at))
		return (struct span){ 0 };
	for (at = span.at + 1; at < end && *at != *span.at; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	if (at == end)
		return (struct span){ 0 };
	if (behind)
		*behind = at + 1;
	return span_from(span.at + 1, at);
}

/* A quoted name, or of "'one' -> 'other'" the other. */
static struct span quoted_target(struct span span)
{
	const char *behind = NULL;
	struct span name = quoted(span, &behind);
	struct span rest;

	if (!name.length)
		return name;
	rest = span_from(behind, end_of(span));
	if (begins(rest, " -> ")) {
		struct span other =
			quoted(span_from(rest.at + 4, end_of(rest)), NULL);

		return other.length ? other : name;
	}
	return name;
}

static bool is_path_start(struct span span)
{
	return begins(span, "/") || begins(span, "./") || begins(span, "../") ||
	       begins(span, "~/");
}

/* "[/from] [/to]" of std::filesystem: the last. */
static struct span bracketed(struct span span)
{
	struct span name = { 0 };
	const char *end;

	while (begins(span, " [") &&
	       (end = memchr(span.at, ']', span.length))) {
		name = span_from(span.at + 2, end);
		span = span_from(end + 1, end_of(span));
	}
	return name;
}

/* "EACCES: permission denied, open '/x'" */
static struct span node_target(struct span rest)
{
	const char *at = rest.at + 2;

	while (at < end_of(rest) && islower((unsigned char)*at))
		at++;
	if (at == end_of(rest) || *at != ' ')
		return (struct span){ 0 };
	return quoted_target(span_from(at + 1, end_of(rest)));
}

/* The name behind the phrase, if one stands there. */
static struct span name_behind(struct span line, struct span rest)
{
	struct span name = { 0 };
	const char *stop;

	if (begins(rest, " [") && find(line, "filesystem error: "))
		return bracketed(rest);
	if (begins(rest, ", "))
		return node_target(rest);
	if (!begins(rest, ": "))
		return name;
	rest = span_from(rest.at + 2, end_of(rest));
	name = quoted_target(rest);
	if (name.length)
		return name;
	stop = find(rest, "; ");
	name = without_blanks(span_from(rest.at, stop ? stop : end_of(rest)));
	if (is_path_start(name) ||
	    (name.length && !memchr(name.at, ' ', name.length)))
		return name;
	return (struct span){ 0 };
}

/* The last quoted name of a part that ends with a quote. */
static struct span last_quoted(struct span part)
{
	static const struct {
		const char *open, *close;
	} quotes[] = { { "'", "'" },
		       { "\"", "\"" },
		       { "\xe2\x80\x98", "\xe2\x80\x99" },
		       { "`", "'" } };

	for (size_t i = 0; i < sizeof(quotes) / sizeof(*quotes); i++) {
		size_t open = strlen(quotes[i].open);
		const char *end;

		if (!ends(part, quotes[i].close))
			continue;
		end = end_of(part) - strlen(quotes[i].close);
		for (const char *at = end; at-- > part.at;)
			if (begins(span_from(at, end), quotes[i].open) &&
			    (at == part.at || at[-1] == ' '))
				return span_from(at + open, end);
	}
	return (struct span){ 0 };
}

/* "cannot create x", "open x": x. Whether there was such a word. */
static bool skip_verbs(struct span *part)
{
	bool skipped = false;
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
			if (!begins_word(*part, verbs[i]))
				continue;
			*part = span_from(part->at + strlen(verbs[i]),
					  end_of(*part));
			again = skipped = true;
		}
	}
	return skipped;
}

static bool is_call(struct span part)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (is(part, calls[i]))
			return true;
	return false;
}

/* The name in what stands between colons. */
static struct span name_in(struct span part, bool is_shell)
{
	static const char for_writing[] = " for writing";
	struct span name;

	if (ends(part, for_writing))
		part.length -= sizeof(for_writing) - 1;
	name = last_quoted(part);
	if (name.length)
		return name;
	if (is_shell || !memchr(part.at, ' ', part.length))
		return part;
	for (const char *at = part.at; at < end_of(part); at++) {
		name = span_from(at, end_of(part));
		if (at > part.at && at[-1] != ' ')
			continue;
		if (is_path_start(name) || skip_verbs(&name))
			return name;
	}
	return (struct span){ 0 };
}

/* The last part of text between colons; text becomes what is before it. */
static struct span cut_part(struct span *text)
{
	const char *at = end_of(*text);
	struct span part;

	while (at > text->at &&
	       !(at - text->at >= 2 && at[-2] == ':' && at[-1] == ' '))
		at--;
	part = span_from(at, end_of(*text));
	*text = span_from(text->at, at > text->at ? at - 2 : at);
	return without_blanks(part);
}

/* "tar: x.tar: Cannot open": the name is one further to the left. */
static bool is_bare_verb(struct span part)
{
	return part.length && has_word(part, "Cannot") &&
	       !memchr(part.at, '/', part.length) &&
	       !memchr(part.at, '\'', part.length) && part.length < 24;
}

/* "bash: line 3" */
static bool is_shell_line(struct span text)
{
	struct span part = cut_part(&text);

	if (!begins(part, "line "))
		return false;
	part = span_from(part.at + 5, end_of(part));
	for (size_t i = 0; i < part.length; i++)
		if (!isdigit((unsigned char)part.at[i]))
			return false;
	return part.length > 0;
}

static bool is_no_write(struct span line, struct span part)
{
	for (size_t i = 0; i < sizeof(no_writes) / sizeof(*no_writes); i++)
		if (has_word(part, no_writes[i]))
			return true;
	for (size_t i = 0; i < sizeof(no_writers) / sizeof(*no_writers); i++)
		if (begins(line, no_writers[i]))
			return true;
	return false;
}

/* What is the kernel's or a device is no file that a training writes. */
static bool is_no_file(struct span name)
{
	if (begins(name, "/dev/shm/"))
		return false;
	return begins(name, "/dev/") || begins(name, "/proc/") ||
	       begins(name, "/sys/");
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

	if (!without_blanks(rest).length)
		return true;
	for (size_t i = 0; i < sizeof(follow) / sizeof(*follow); i++)
		if (begins(rest, follow[i]))
			return true;
	return false;
}

/* The name before the phrase. False: this is about something else. */
static bool name_before(struct span line, struct span before, struct span *name)
{
	struct span part;
	const char *hdf5 = find(before, " name = '");

	if (ends(before, "error message = '") && hdf5) {
		*name = quoted(span_from(hdf5 + 8, end_of(before)), NULL);
		return true;
	}
	if (!ends(before, ": ") && !ends(before, " (") && !ends(before, "; "))
		return true;
	before.length -= 2;
	part = cut_part(&before);
	if (is_no_write(line, part))
		return false;
	if (is_bare_verb(part))
		part = cut_part(&before);
	/* "line 3: cd: /x" */
	if (ends(before, ": cd") || is(before, "cd"))
		return false;
	if (!is_call(part))
		*name = name_in(part, is_shell_line(before));
	return true;
}

/* Rust names no file; perror() may name the call instead. */
static bool is_nameless_write(struct span before, struct span rest)
{
	if (ends(before, "message: \"") || ends(before, "I/O error: ") ||
	    begins(rest, " (os error"))
		return true;
	if (!ends(before, ": "))
		return false;
	before.length -= 2;
	return is_call(cut_part(&before));
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
	if (!without_blanks(before).length)
		return true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (ends(before, starts[i]))
			return true;
	return false;
}

static bool report_at(struct span line, const struct phrase *phrase,
		      const char *at, char path[REFUSAL_PATH_MAX])
{
	struct span before = span_from(line.at, at - 1);
	struct span rest = span_from(at + strlen(phrase->text), end_of(line));
	struct span name;
	bool is_certain;

	if (!is_said(before, rest))
		return false;
	name = name_behind(line, rest);
	if (!name.length && !name_before(line, before, &name))
		return false;
	is_certain =
		phrase->kind == PHRASE_READ_ONLY || is_certain_name(line, name);
	if (phrase->kind == PHRASE_DENIED)
		is_certain = name.length || is_nameless_write(before, rest);
	if (!is_certain || is_no_file(name))
		return false;
	copy_name(path, name);
	return true;
}

/* "RuntimeError: File ckpt.pt cannot be opened.": torch.save since 1.6. */
static bool torch_report(struct span line, char path[REFUSAL_PATH_MAX])
{
	const char *end = find(line, " cannot be opened.");
	const char *at = end ? find(line, "RuntimeError: File ") : NULL;

	if (!at || at + 19 >= end)
		return false;
	copy_name(path, span_from(at + 19, end));
	return true;
}

#define GROUP(a, b, c, d)                                                      \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |            \
	 (uint32_t)(d) << 24)

/*
 * Nearly every line of output passes here and is none: only each fourth group
 * of four bytes is looked at. Of seven bytes that every report has, one of the
 * four groups falls on such a place: " denied", "ead-onl", "ermitte", and
 * "rror: F" of torch.
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

		for (int place = 0;
		     place < PLACES_MAX && (at = find(rest, phrases[i].text));
		     place++) {
			if (at > line &&
			    report_at(whole, &phrases[i], at, path))
				return true;
			rest = span_from(at + 1, end_of(whole));
		}
	}
	return torch_report(whole, path);
}
