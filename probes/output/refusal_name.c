/* The file that the report of a refused write names. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/refusal_name.h"

#include <ctype.h>
#include <string.h>

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

/* Python's repr, node, coreutils: what is between the quotes; or nothing. */
static struct span quoted(struct span span, const char **behind)
{
	const char *end = span_end(span);
	const char *at;

	if (span_begins(span, "b'") || span_begins(span, "b\""))
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
	rest = span_from(behind, span_end(span));
	if (span_begins(rest, " -> ")) {
		struct span other =
			quoted(span_from(rest.at + 4, span_end(rest)), NULL);

		return other.length ? other : name;
	}
	return name;
}

static bool is_path_start(struct span span)
{
	return span_begins(span, "/") || span_begins(span, "./") ||
	       span_begins(span, "../") || span_begins(span, "~/");
}

/* "[/from] [/to]" of std::filesystem: the last. */
static struct span bracketed(struct span span)
{
	struct span name = { 0 };
	const char *end;

	while (span_begins(span, " [") &&
	       (end = memchr(span.at, ']', span.length))) {
		name = span_from(span.at + 2, end);
		span = span_from(end + 1, span_end(span));
	}
	return name;
}

/* "EACCES: permission denied, open '/x'" */
static struct span node_target(struct span rest)
{
	const char *at = rest.at + 2;

	while (at < span_end(rest) && islower((unsigned char)*at))
		at++;
	if (at == span_end(rest) || *at != ' ')
		return (struct span){ 0 };
	return quoted_target(span_from(at + 1, span_end(rest)));
}

/* The name behind the phrase, if one stands there. */
struct span refusal_name_behind(struct span line, struct span rest)
{
	struct span name = { 0 };
	const char *stop;

	if (span_begins(rest, " [") && span_find(line, "filesystem error: "))
		return bracketed(rest);
	if (span_begins(rest, ", "))
		return node_target(rest);
	if (!span_begins(rest, ": "))
		return name;
	rest = span_from(rest.at + 2, span_end(rest));
	name = quoted_target(rest);
	if (name.length)
		return name;
	stop = span_find(rest, "; ");
	name = span_trimmed(span_from(rest.at, stop ? stop : span_end(rest)));
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

		if (!span_ends(part, quotes[i].close))
			continue;
		end = span_end(part) - strlen(quotes[i].close);
		for (const char *at = end; at-- > part.at;)
			if (span_begins(span_from(at, end), quotes[i].open) &&
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
			if (!span_begins_any_case(*part, verbs[i]))
				continue;
			*part = span_from(part->at + strlen(verbs[i]),
					  span_end(*part));
			again = skipped = true;
		}
	}
	return skipped;
}

/* Java's "from -> to"; Go's "rename from to", if no name has a blank: to. */
static struct span target_of_two(struct span part, struct span names)
{
	const char *blank = memchr(names.at, ' ', names.length);
	struct span before = span_from(part.at, names.at);
	const char *arrow = span_find(names, " -> ");
	struct span second;

	if (arrow)
		return span_from(arrow + 4, span_end(names));
	if (!blank ||
	    (!span_ends(before, "rename ") && !span_ends(before, "link ")))
		return names;
	second = span_from(blank + 1, span_end(names));
	return memchr(second.at, ' ', second.length) ? names : second;
}

bool refusal_is_call(struct span part)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (span_is(part, calls[i]))
			return true;
	return false;
}

/* The name in what stands between colons. */
static struct span name_in(struct span part, bool is_shell)
{
	static const char for_writing[] = " for writing";
	struct span name;

	if (span_ends(part, for_writing))
		part.length -= sizeof(for_writing) - 1;
	name = last_quoted(part);
	if (name.length)
		return name;
	if (is_shell || !memchr(part.at, ' ', part.length))
		return part;
	for (const char *at = part.at; at < span_end(part); at++) {
		name = span_from(at, span_end(part));
		if (at > part.at && at[-1] != ' ')
			continue;
		if (is_path_start(name) || skip_verbs(&name))
			return target_of_two(part, name);
	}
	return (struct span){ 0 };
}

/* "tar: x.tar: Cannot open": the name is one further to the left. */
static bool is_bare_verb(struct span part)
{
	return part.length && span_has_word(part, "Cannot") &&
	       !memchr(part.at, '/', part.length) &&
	       !memchr(part.at, '\'', part.length) && part.length < 24;
}

/* "bash: line 3" */
static bool is_shell_line(struct span text)
{
	struct span part = span_cut_part(&text);

	if (!span_begins(part, "line "))
		return false;
	part = span_from(part.at + 5, span_end(part));
	for (size_t i = 0; i < part.length; i++)
		if (!isdigit((unsigned char)part.at[i]))
			return false;
	return part.length > 0;
}

static bool is_no_write(struct span line, struct span part)
{
	for (size_t i = 0; i < sizeof(no_writes) / sizeof(*no_writes); i++)
		if (span_has_word(part, no_writes[i]))
			return true;
	for (size_t i = 0; i < sizeof(no_writers) / sizeof(*no_writers); i++)
		if (span_begins(line, no_writers[i]))
			return true;
	return false;
}

/* "Error", "java.io.IOException": what failed, not what it failed on. */
static bool is_kind_of_error(struct span part)
{
	return (span_ends(part, "rror") || span_ends(part, "xception")) &&
	       !memchr(part.at, '/', part.length) &&
	       !memchr(part.at, ' ', part.length);
}

/* The name before the phrase. False: this is about something else. */
bool refusal_name_before(struct span line, struct span before,
			 struct span *name)
{
	struct span part;
	const char *hdf5 = span_find(before, " name = '");

	if (span_ends(before, "error message = '") && hdf5) {
		*name = quoted(span_from(hdf5 + 8, span_end(before)), NULL);
		return true;
	}
	if (!span_ends(before, ": ") && !span_ends(before, " (") &&
	    !span_ends(before, "; "))
		return true;
	before.length -= 2;
	part = span_cut_part(&before);
	if (is_no_write(line, part))
		return false;
	if (is_bare_verb(part))
		part = span_cut_part(&before);
	/* "line 3: cd: /x" */
	if (span_ends(before, ": cd") || span_is(before, "cd"))
		return false;
	if (!refusal_is_call(part) && !is_kind_of_error(part))
		*name = name_in(part, is_shell_line(before));
	return true;
}
