/* The first error a command printed, for the user to read. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/failure.h"

#include <ctype.h>
#include <string.h>

static void keep(char kept[FAILURE_LINE_MAX], const char *line, size_t length)
{
	if (length > FAILURE_LINE_MAX - 1)
		length = FAILURE_LINE_MAX - 1;
	for (size_t i = 0; i < length; i++)
		kept[i] = iscntrl((unsigned char)line[i]) && line[i] != '\t'
				  ? '?'
				  : line[i];
	kept[length] = '\0';
}

/* Bytes up to and with the bracket that closes one at the start; 0: none. */
static size_t bracketed(const char *line, size_t length)
{
	for (size_t i = 1; i < length && i < 24; i++)
		if (line[i] == ']')
			return i + 1;
	return 0;
}

static size_t digits(const char *line, size_t length)
{
	size_t i = 0;

	while (i < length && i < 6 && isdigit((unsigned char)line[i]))
		i++;
	return i;
}

/* "[rank0]: ", "[default0]:", "[1,0]<stderr>:", "0: ": what launchers add. */
static size_t launcher_prefix(const char *line, size_t length)
{
	size_t i = length && line[0] == '[' ? bracketed(line, length)
					    : digits(line, length);

	if (i == 0)
		return 0;
	while (line[0] == '[' && i < length && i < 40 && line[i] != ':')
		i++;
	if (i >= length || line[i] != ':')
		return 0;
	i++;
	return i < length && line[i] == ' ' ? i + 1 : i;
}

static void in_traceback(struct failure *failure, const char *line,
			 size_t length)
{
	if (line[0] == ' ' || line[0] == '\t') {
		keep(failure->frames[failure->frame_count %
				     FAILURE_FRAME_LINES],
		     line, length);
		failure->frame_count++;
		return;
	}
	keep(failure->exception, line, length);
	failure->state = FAILURE_DONE;
}

void failure_line(struct failure *failure, const char *line, size_t length)
{
	static const char start[] = "Traceback (most recent call last)";
	size_t skip;

	if (!length)
		return;
	keep(failure->tail[failure->tail_count % FAILURE_TAIL_LINES], line,
	     length);
	failure->tail_count++;
	if (failure->state == FAILURE_DONE)
		return;
	skip = launcher_prefix(line, length);
	line += skip;
	length -= skip;
	if (failure->state == FAILURE_IN_TRACEBACK && length)
		in_traceback(failure, line, length);
	else if (length >= sizeof(start) - 1 &&
		 memcmp(line, start, sizeof(start) - 1) == 0)
		failure->state = FAILURE_IN_TRACEBACK;
}

static void add_ring(struct strbuf *out, const char (*ring)[FAILURE_LINE_MAX],
		     size_t count, size_t size)
{
	for (size_t i = count > size ? count - size : 0; i < count; i++)
		strbuf_addf(out, "%s\n", ring[i % size]);
}

void failure_text(const struct failure *failure, struct strbuf *out)
{
	if (failure->state != FAILURE_DONE) {
		add_ring(out, failure->tail, failure->tail_count,
			 FAILURE_TAIL_LINES);
		return;
	}
	add_ring(out, failure->frames, failure->frame_count,
		 FAILURE_FRAME_LINES);
	strbuf_addf(out, "%s\n", failure->exception);
}
