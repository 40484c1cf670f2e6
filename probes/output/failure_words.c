/* What one line of output is, by its words: an exception, a crash. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/failure_words.h"

#include <ctype.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(*(table)))
/* Words that say what a line is stand at its start. */
#define LOOK_MAX 200
#define PARTS_MAX 8

static const char header_words[] = "Traceback (most recent call last)";

void failure_words_keep(char kept[FAILURE_LINE_MAX], struct span line)
{
	size_t length = line.length;

	if (length > FAILURE_LINE_MAX - 1) {
		length = FAILURE_LINE_MAX - 1;
		/* No half of a character. */
		while (length &&
		       ((unsigned char)line.at[length] & 0xc0) == 0x80)
			length--;
	}
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)line.at[i];

		kept[i] = line.at[i];
		if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
			kept[i] = '?';
	}
	kept[length] = '\0';
}

static struct span first(struct span line, size_t length)
{
	if (line.length > length)
		line.length = length;
	return line;
}

static struct span failure_words_from(struct span line, size_t at)
{
	return span_from(line.at + at, span_end(line));
}

static bool begins_with_any(struct span line, const char *const *table,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (failure_words_begin(line, table[i]))
			return true;
	return false;
}

static bool has_any(struct span line, const char *const *table, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_find(line, table[i]))
			return true;
	return false;
}

/* "pkg.mod.Name", "main.<locals>.Name", "RayTaskError(ValueError)". */
static struct span name_of(struct span line)
{
	size_t i = 0;
	const char *close;

	while (i < line.length && (isalnum((unsigned char)line.at[i]) ||
				   (line.at[i] && strchr("_.<>", line.at[i]))))
		i++;
	if (i && i < line.length && line.at[i] == '(') {
		close = memchr(line.at + i, ')', line.length - i);
		if (close && close + 1 < span_end(line) && close[1] == ':')
			i = (size_t)(close + 1 - line.at);
	}
	return first(line, i);
}

/* "Name" of "pkg.mod.Name". */
static struct span last_of(struct span name)
{
	const char *paren = memchr(name.at, '(', name.length);
	struct span part = paren ? span_from(name.at, paren) : name;
	const char *dot = memrchr(part.at, '.', part.length);

	return dot ? span_from(dot + 1, span_end(part)) : part;
}

static bool ends_as_exception(struct span name)
{
	static const char *const ends[] = {
		"Error",  "Exception", "Warning",  "Interrupt",
		"Exit",   "Iteration", "Group",    "Unsupported",
		"Failed", "timeout",   "gaierror", "error",
	};

	for (size_t i = 0; i < COUNT(ends); i++)
		if (span_ends(name, ends[i]))
			return true;
	return false;
}

enum failure_form failure_words_form(struct span line)
{
	struct span name = name_of(line);
	struct span last = last_of(name);
	struct span rest = failure_words_from(line, name.length);
	bool dotted = last.length < name.length;

	if (!last.length || isdigit((unsigned char)name.at[0]) ||
	    (rest.length && !failure_words_begin(rest, ": ") &&
	     !span_is(rest, ":")))
		return FAILURE_NO_EXCEPTION;
	if (!isupper((unsigned char)last.at[0]) &&
	    !(dotted && ends_as_exception(last)))
		return FAILURE_NO_EXCEPTION;
	return dotted || ends_as_exception(last) ? FAILURE_STRONG
						 : FAILURE_WEAK;
}

bool failure_words_is_group(struct span exception)
{
	return span_ends(last_of(name_of(exception)), "ExceptionGroup");
}

static bool is_wrapper(struct span last, struct span exception,
		       bool by_launcher)
{
	static const char *const names[] = {
		"ChildFailedError",
		"ProcessRaisedException",
		"ProcessExitedException",
		"SignalException",
	};

	if (span_is(last, "CalledProcessError"))
		return by_launcher;
	for (size_t i = 0; i < COUNT(names); i++)
		if (span_is(last, names[i]))
			return true;
	return span_find(exception, "Horovod detected that one or more") !=
	       NULL;
}

/* What a process says when another one went away, or when it is ended. */
static bool is_consequence(struct span last, struct span exception)
{
	static const char *const names[] = {
		"KeyboardInterrupt",    "SystemExit",    "BrokenPipeError",
		"ConnectionResetError", "GeneratorExit", "CalledProcessError",
		"RayTaskError",         "RayActorError",
	};
	static const char *const messages[] = {
		"gloo/transport",
		"Connection closed by peer",
		"ncclRemoteError",
		"Watchdog caught collective operation timeout",
		"NCCL communicator was aborted",
		"Horovod has been shut down",
		"is killed by signal: Terminated",
		"recvValue failed",
		"recvBytes failed",
		"failed to recv, got 0 bytes",
		"wait timeout after",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (span_is(last, names[i]))
			return true;
	if (span_is(exception, "EOFError") || failure_words_is_group(exception))
		return true;
	if (span_find(exception, ": Caught ") &&
	    (span_find(exception, " in DataLoader worker process ") ||
	     span_find(exception, " in replica ") ||
	     span_find(exception, " in pin memory thread ")))
		return true;
	return has_any(exception, messages, COUNT(messages));
}

enum failure_kind failure_words_kind(struct span exception, bool by_launcher)
{
	struct span last = last_of(name_of(exception));

	if (is_wrapper(last, exception, by_launcher))
		return FAILURE_WRAPPER;
	return is_consequence(last, exception) ? FAILURE_CONSEQUENCE
					       : FAILURE_OWN;
}

/* Drop words from the end of what stands before the header. */
static bool drop(struct span *before, const char *words)
{
	if (!span_ends(*before, words))
		return false;
	before->length -= strlen(words);
	return true;
}

static bool box_header(struct span before, struct span behind,
		       struct failure_header *header)
{
	const char *corner = memmem(before.at, before.length, "╭─", 6);
	size_t plain = before.length;

	if (!failure_words_begin(behind, " ") || !span_ends(before, " "))
		return false;
	if (!corner) {
		/* "+---- Traceback ... ----+" where only ASCII is printed. */
		while (plain && (before.at[plain - 1] == '-' ||
				 before.at[plain - 1] == ' '))
			plain--;
		if (!plain || before.at[plain - 1] != '+' ||
		    before.length - plain < 4 || !span_ends(behind, "-+"))
			return false;
		corner = before.at + plain - 1;
	}
	header->is_boxed = true;
	header->before = (size_t)(corner - before.at);
	return true;
}

bool failure_words_header(struct span line, struct failure_header *header)
{
	const char *at;
	struct span before;
	struct span behind;
	size_t end;

	/* Of all lines few end so: ":", or a corner of a box. */
	if (!line.length || !strchr(":+\xae", span_end(line)[-1]))
		return false;
	at = span_find(line, header_words);
	if (!at)
		return false;
	*header = (struct failure_header){ .count = 1 };
	before = span_from(line.at, at);
	behind = span_from(at + strlen(header_words), span_end(line));
	while (failure_words_begin(behind,
				   ":Traceback (most recent call last)")) {
		behind = failure_words_from(behind, 1 + strlen(header_words));
		header->count++;
	}
	if (!span_is(behind, ":"))
		return box_header(before, behind, header);
	if (drop(&before, "Exception Group ")) {
		(void)drop(&before, "+ ");
		header->is_group = true;
	}
	header->is_inner = drop(&before, "Original ");
	header->is_told = drop(&before, "traceback : ");
	end = before.length;
	while (before.length && before.at[before.length - 1] == ' ')
		before.length--;
	/* Only spaces are an indent; behind words they are of a prefix. */
	header->before = before.length ? end : 0;
	header->indent = before.length ? 0 : end;
	return true;
}

bool failure_words_link(struct span line)
{
	static const char *const words[] = {
		"The above exception was the direct cause of the following "
		"exception",
		"During handling of the above exception, another exception "
		"occurred",
	};

	return begins_with_any(line, words, COUNT(words));
}

/* File "x.py", line 3, in main: not those of faulthandler, upside down. */
bool failure_words_is_frame(struct span trimmed)
{
	const char *line;
	struct span number;
	size_t i = 0;

	if (!failure_words_begin(trimmed, "File \""))
		return false;
	line = span_find(trimmed, "\", line ");
	if (!line)
		return false;
	number = span_from(line + strlen("\", line "), span_end(trimmed));
	while (i < number.length && isdigit((unsigned char)number.at[i]))
		i++;
	return i && (i == number.length || number.at[i] == ',');
}

bool failure_words_is_bar(struct span line)
{
	return span_find(line, "%|") || span_find(line, "it/s") ||
	       span_find(line, "s/it");
}

enum failure_kind failure_words_introduce(struct span line)
{
	static const char *const noise[] = {
		"Exception ignored ",
		"--- Logging error ---",
		"Error in atexit",
		"Error in sys.excepthook",
	};

	if (begins_with_any(line, noise, COUNT(noise)))
		return FAILURE_NOISE;
	return failure_words_begin(line, "Exception in thread ") ? FAILURE_ASIDE
								 : FAILURE_NONE;
}

bool failure_words_are_usage(struct span line)
{
	return failure_words_begin(line, "usage: ") ||
	       failure_words_begin(line, "Usage: ") ||
	       failure_words_begin(line, "Usage of ");
}

/* "python: No module named x": what other programs say of it is talk. */
static bool interpreter_said(struct span program, struct span part)
{
	return program.length && !memchr(program.at, ' ', program.length) &&
	       (failure_words_begin(part, "No module named ") ||
		failure_words_begin(part, "can't open file "));
}

/* A program's, a shell's, the C library's last words. */
static enum failure_kind part_said(struct span part, bool is_first)
{
	static const char *const anywhere[] = {
		"command not found",
		"Segmentation fault",
		"Bus error",
		"Illegal instruction",
		"Floating point exception",
		"Aborted",
		"error while loading shared libraries",
		"cannot execute",
	};
	static const char *const at_start[] = {
		"Fatal Python error",
		"terminate called ",
		"[CUDA ERROR]",
	};
	static const char *const errors[] = { "error: ", "Error: ", "ERROR: " };
	struct span word = part;

	while (word.length &&
	       (isdigit((unsigned char)*word.at) || *word.at == ' '))
		word = failure_words_from(word, 1);
	if (begins_with_any(word, anywhere, COUNT(anywhere)) ||
	    (!is_first && span_is(part, "not found")))
		return FAILURE_SAID;
	if (is_first && begins_with_any(part, at_start, COUNT(at_start)))
		return FAILURE_SAID;
	if (!is_first && failure_words_begin(part, "error: "))
		return FAILURE_SAID;
	return is_first && begins_with_any(part, errors, COUNT(errors))
		       ? FAILURE_MUTTERED
		       : FAILURE_NONE;
}

enum failure_kind failure_words_said(struct span line)
{
	struct span rest = first(line, LOOK_MAX);
	struct span part;
	enum failure_kind kind = part_said(rest, true);

	for (int i = 0; i < PARTS_MAX && kind == FAILURE_NONE; i++) {
		const char *colon = memchr(rest.at, ':', rest.length);

		if (!colon)
			break;
		if (colon + 1 == span_end(rest) || colon[1] != ' ') {
			rest = span_from(colon + 1, span_end(rest));
			continue;
		}
		part = span_from(rest.at, colon);
		rest = span_from(colon + 2, span_end(rest));
		kind = part.at == line.at && interpreter_said(part, rest)
			       ? FAILURE_SAID
			       : part_said(rest, false);
	}
	return kind;
}
