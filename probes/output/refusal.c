/* A line of output that tells of a write that was refused. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A line is taken for such a report where the words of strerror() stand as a
 * message of their own, between colons or brackets and not in a sentence. The
 * file is named behind them or before them; how, the patterns below tell. Some
 * programs say the same of what is no write: those are left out by name.
 */
#include "probes/output/refusal.h"

#include "base/alloc.h"
#include "base/span.h"
#include "configs/signatures/pattern.h"

#include <stdlib.h>
#include <string.h>

/* As many places of one line are looked at, and so much before each. */
#define PLACES_MAX 16
#define BEFORE_MAX REFUSAL_PATH_MAX

/* What the words around a phrase end and begin with, where they report it. */
#define REPORTS "(?:^\\s*|[:;] |\\] | \\(|message: \"|error message = ')"
#define REPORTED                                                               \
	"(?:\\s*$|[.;:,)\\]}\"']| \\(os error| \\(errno| at | [\\[{]|\\\\n)"

/* Python's repr, node, coreutils: group is what is between the quotes. */
#define QUOTED_BY(quote, group)                                                \
	"b?" quote group "(?:[^" quote "\\\\]++|\\\\.)++)" quote
#define QUOTED(group) "(?|" QUOTED_BY("'", group) "|" QUOTED_BY("\"", group) ")"

/* A part of a line is what stands between two ": ". */
#define LAST_PART "^(?>(?:.*: )?)"
#define WORD(words) "(?<![\\w./-])(?:" words ")(?![\\w./-])"
#define PATH_START "(?:~|\\.{0,2})/"

#define CALLS                                                                  \
	"f?open|openat|creat|mkdir|f?write|rename|unlink|link|rmdir|symlink|"  \
	"chmod|utime|f?truncate"
#define VERBS                                                                  \
	"cannot|can't|could not|couldn't|failed to|error|open|opening|"        \
	"openat|create|creating|mkdir|mkdirat|creat|touch|write|writing|"      \
	"remove|unlink|unlinkat|rename|chmod|chown|symlink|link|truncate|to|"  \
	"the|file|directory|temporary|output|lock|utime|fopen"
#define NO_WRITES                                                              \
	"for reading|(?:open|read) directory|cannot (?:access|stat|read)|"     \
	"(?:fork/)?exec|execute|cd|connect|dial|bind|listen|socket|accept|"    \
	"ioctl|ptrace|mlock|mbind|mmap|[sg]et_mempolicy|affinity|nice|"        \
	"niceness|setpriority|limit|setrlimit|perf_event_open|clone|unshare|"  \
	"kernel buffer|sched_setscheduler|on fopen|shmget|semget|sudo|su|read"
/* They only read, or change no file of their own. */
#define NO_WRITERS                                                             \
	"cat|find|e?grep|wc|ls|du|head|tail|less|stat|md5sum|file|diff|zcat|"  \
	"u?mount"

enum refusal_pattern {
	PHRASE, /* its groups: see enum phrase_kind */
	BEFORE_PHRASE,
	BEHIND_PHRASE,
	NAMELESS, /* before a phrase that is about a write without a file */
	NAMELESS_BEHIND,
	NOT_A_WRITE,
	NOT_A_FILE, /* of the kernel's, or a device */
	DATABASE,   /* SQLite names no file, and no errno */
	TORCH,
	/* Group 1 is the name: behind the phrase, and before it. */
	NAME_OF_FILESYSTEM,
	NAME_OF_HDF5,
	NAME_BEHIND,
	NAME_BEFORE = NAME_BEHIND + 2,
	PATTERNS = NAME_BEFORE + 7,
};

/* The group of PHRASE: texts of strerror(), as they are and as Go and node
 * write them. */
enum phrase_kind {
	PHRASE_DENIED = 1, /* of a file that is named, or of a write */
	PHRASE_READ_ONLY,  /* always */
	PHRASE_NAMED,      /* of a file that is named as one */
	PHRASE_BUSY,       /* of an entry of shared memory */
	PHRASE_KINDS,
};

static const char *const refusal_texts[PATTERNS] = {
	[PHRASE] = "(.ermission denied|.nvalid cross-device link|"
		   ".ross-device link not permitted)|(.ead-only file system)|"
		   "(.peration not permitted|"
		   ".alue too large for defined data type)|"
		   "(.evice or resource busy)",
	[BEFORE_PHRASE] = REPORTS "$",
	[BEHIND_PHRASE] = "^" REPORTED,
	[NAMELESS] = "(?:message: \"|I/O error: |(?:^|: )\\s*(?:" CALLS "): )$",
	[NAMELESS_BEHIND] = "^ \\(os error",
	[NOT_A_WRITE] = "^(?:" NO_WRITERS "): |(?:^|: )cd: [^:]*$|" LAST_PART
			".*?" WORD(NO_WRITES),
	/* "/proc/self/cwd/x", "/proc/7/fd/3/x" are files by a detour. */
	[NOT_A_FILE] = "^/(?:dev/(?!shm/)|sys/|"
		       "proc/(?![^/]+/(?:cwd/|root/|fd/[^/]*/)))",
	/* SQLAlchemy: "(sqlite3.OperationalError) attempt to ...", rusqlite:
	 * "Some("attempt to ...", SQLite's shell: "in prepare, ... (8)". */
	[DATABASE] = "(?:" REPORTS "|\\) |, |\\(\")"
		     "(?:attempt to write a readonly database|"
		     "unable to open database file)(?: \\(|" REPORTED ")",
	/* torch.save since 1.6 */
	[TORCH] = "RuntimeError: File (.+?) cannot be opened\\.",
	/* "[/from] [/to]" of std::filesystem */
	[NAME_OF_FILESYSTEM] =
		"^(?: \\[[^]]*\\])*? \\[([^]]*)\\](?! \\[[^]]*\\])",
	[NAME_OF_HDF5] = " name = '([^']*)'",
	/* node: "EACCES: permission denied, open '/x'"; Python: ": 'from' ->
	 * 'to'" */
	[NAME_BEHIND] =
		"^(?:, [a-z]+|:) (?:" QUOTED("(?:") " -> )?" QUOTED("("),
	"^: \\s*([^\\s;]++|" PATH_START "[^;]*?)\\s*(?:; .*)?$",
	/* "touch: cannot touch 'x'", "tar: x.tar: Cannot open" */
	[NAME_BEFORE] =
		"^(?:.* )?(?|'(.+)'|\"(.+)\"|`(.+)'|\xe2\x80\x98(.+)\xe2\x80"
		"\x99)(?: for writing)?(?:: Cannot [^/':]{0,16})?$",
	"(?:^|: )\\s*([^:]+): Cannot [^/':]{0,16}$",
	/* "bash: line 3: my file" */
	"(?:^|: )line [0-9]+: ([^:]+)$",
	/* Java's "from -> to", Go's "rename from to" */
	LAST_PART ".*-> (.+)$",
	LAST_PART "(?:.* )?(?:rename|link) [^ ]+ ([^ ]+)$",
	/* The only word, if it is neither a call nor "java.io.IOException". */
	LAST_PART "\\s*(?!(?:" CALLS "|[^ /]*(?:rror|xception))$)([^ ]+)$",
	LAST_PART ".*?(?<![^ ])(?:(?i:(?:" VERBS ") )+|(?=" PATH_START "))"
		  "(.+?)(?: for writing)?$",
};

struct refusal {
	struct pattern *patterns[PATTERNS];
};

struct refusal *refusal_make(void)
{
	struct refusal *refusal = xcalloc(1, sizeof(*refusal));

	/* Without memory for one it matches nothing. */
	for (size_t i = 0; i < PATTERNS; i++)
		(void)pattern_make(&refusal->patterns[i], refusal_texts[i],
				   NULL);
	return refusal;
}

void refusal_free(struct refusal *refusal)
{
	for (size_t i = 0; refusal && i < PATTERNS; i++)
		pattern_free(refusal->patterns[i]);
	free(refusal);
}

static bool refusal_match(const struct refusal *refusal,
			  enum refusal_pattern which, struct span text,
			  int group, struct span *part)
{
	const struct pattern_window window = { .text = text.at,
					       .to = text.length };
	struct pattern_span found;

	if (!refusal->patterns[which] ||
	    !pattern_match(refusal->patterns[which], &window, group, &found))
		return false;
	if (part)
		*part = span_from(text.at + found.from, text.at + found.to);
	return true;
}

static bool refusal_has(const struct refusal *refusal,
			enum refusal_pattern which, struct span text)
{
	return refusal_match(refusal, which, text, 0, NULL);
}

/* The name by the first of some patterns that finds one. */
static bool find_name(const struct refusal *refusal, enum refusal_pattern first,
		      enum refusal_pattern end, struct span text,
		      struct span *name)
{
	for (enum refusal_pattern i = first; i < end; i++)
		if (refusal_match(refusal, i, text, 1, name))
			return true;
	return false;
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

/* One phrase of a line, and what is around it. */
struct refusal_place {
	enum phrase_kind kind;
	struct span before, behind;
};

/* EPERM is said of priorities, policies and CUDA streams far more often. */
static bool is_named_as_file(const struct refusal_place *place,
			     struct span name)
{
	return name.length && (memchr(name.at, '/', name.length) ||
			       (name.at > place->before.at &&
				strchr("'\"`\x98", name.at[-1])));
}

static bool is_certain(const struct refusal *refusal,
		       const struct refusal_place *place, struct span name)
{
	switch (place->kind) {
	case PHRASE_DENIED:
		return name.length ||
		       refusal_has(refusal, NAMELESS, place->before) ||
		       refusal_has(refusal, NAMELESS_BEHIND, place->behind);
	case PHRASE_READ_ONLY:
		return true;
	case PHRASE_NAMED:
		return is_named_as_file(place, name);
	case PHRASE_BUSY:
		return span_begins(name, "/dev/shm/");
	case PHRASE_KINDS:
		break;
	}
	return false;
}

/* Does it report a write? The name stays empty where none is named. */
static bool place_reports(const struct refusal *refusal,
			  const struct refusal_place *place, struct span *name)
{
	struct span before = place->before;

	if (!refusal_has(refusal, BEFORE_PHRASE, before) ||
	    !refusal_has(refusal, BEHIND_PHRASE, place->behind))
		return false;
	if (span_find(before, "filesystem error: ") &&
	    refusal_match(refusal, NAME_OF_FILESYSTEM, place->behind, 1, name))
		return true;
	if (find_name(refusal, NAME_BEHIND, NAME_BEFORE, place->behind, name))
		return true;
	if (span_ends(before, "error message = '"))
		return refusal_match(refusal, NAME_OF_HDF5, before, 1, name);
	if (!span_ends(before, ": ") && !span_ends(before, " (") &&
	    !span_ends(before, "; "))
		return true;
	before.length -= 2;
	if (refusal_has(refusal, NOT_A_WRITE, before))
		return false;
	(void)find_name(refusal, NAME_BEFORE, PATTERNS, before, name);
	return true;
}

/* The first phrase in the text, and what stands around it in the line. */
static bool refusal_next_place(const struct refusal *refusal, struct span line,
			       struct span text, struct refusal_place *place)
{
	struct span phrase;

	for (int kind = PHRASE_DENIED; kind < PHRASE_KINDS; kind++) {
		if (!refusal_match(refusal, PHRASE, text, kind, &phrase))
			continue;
		place->kind = (enum phrase_kind)kind;
		place->before = span_from(line.at, phrase.at);
		if (place->before.length > BEFORE_MAX)
			place->before =
				span_from(phrase.at - BEFORE_MAX, phrase.at);
		place->behind = span_from(span_end(phrase), span_end(line));
		return true;
	}
	return false;
}

bool refusal_line(const struct refusal *refusal, const char *line,
		  size_t length, char path[REFUSAL_PATH_MAX])
{
	const struct span whole = { line, length };
	struct refusal_place place;
	struct span text = whole;
	struct span name = { 0 };

	path[0] = '\0';
	for (int i = 0;
	     i < PLACES_MAX && refusal_next_place(refusal, whole, text, &place);
	     i++) {
		text = span_from(place.behind.at, span_end(whole));
		name = (struct span){ 0 };
		if (!place_reports(refusal, &place, &name) ||
		    !is_certain(refusal, &place, name) ||
		    refusal_has(refusal, NOT_A_FILE, name))
			continue;
		copy_name(path, name);
		return true;
	}
	if (refusal_match(refusal, TORCH, whole, 1, &name)) {
		copy_name(path, name);
		return true;
	}
	return refusal_has(refusal, DATABASE, whole);
}
