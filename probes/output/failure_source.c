/* Whose line it is: tracebacks of any number of ranks, told apart. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/failure_source.h"

#include "probes/output/failure_trace.h"
#include "probes/output/failure_words.h"
#include "probes/output/lines.h"

#include <string.h>

/* The number of the source with this prefix; 0: there is no room for it. */
static size_t source_with(struct failure *failure, struct span prefix)
{
	struct failure_source *source;
	size_t idle = 0;

	for (size_t i = 1; i <= failure->source_count; i++) {
		source = &failure->sources[i];
		if (source->prefix_length == prefix.length &&
		    memcmp(source->prefix, prefix.at, prefix.length) == 0)
			return i;
		if (source->state == FAILURE_LOOKING)
			idle = i;
	}
	if (failure->source_count < FAILURE_SOURCES)
		idle = ++failure->source_count;
	if (!idle)
		return 0;
	source = &failure->sources[idle];
	memset(source, 0, sizeof(*source));
	memcpy(source->prefix, prefix.at, prefix.length);
	source->prefix_length = prefix.length;
	return idle;
}

/* Other text stood before the header, no prefix: the traceback has none. */
static void begin_plain(struct failure *failure)
{
	const struct failure_header header = { .count = 1 };

	failure_trace_open(failure, 0, &header);
}

/* Whose line it is; the prefix is taken from it. */
static size_t route(struct failure *failure, struct span *line)
{
	for (size_t i = 1; i <= failure->source_count; i++) {
		struct failure_source *source = &failure->sources[i];

		if (source->prefix_length &&
		    line->length >= source->prefix_length &&
		    memcmp(line->at, source->prefix, source->prefix_length) ==
			    0) {
			*line = span_from(line->at + source->prefix_length,
					  span_end(*line));
			source->is_guess = false;
			return i;
		}
		if (source->is_guess &&
		    failure_words_is_frame(span_trimmed(*line))) {
			source->state = FAILURE_LOOKING;
			source->is_guess = false;
			begin_plain(failure);
		}
	}
	return 0;
}

/* The first traceback with such a prefix. */
static bool open_prefixed(struct failure *failure, struct span line,
			  const struct failure_header *header)
{
	struct span prefix = { line.at, header->before };
	size_t index;
	int rank = -1;

	if (!prefix.length) {
		failure_trace_open(failure, 0, header);
		return true;
	}
	if (prefix.length > FAILURE_PREFIX_MAX ||
	    failure_words_is_bar(prefix)) {
		begin_plain(failure);
		return true;
	}
	index = source_with(failure, prefix);
	if (!index)
		return false;
	failure->sources[index].is_guess =
		lines_launcher_prefix(line.at, prefix.length + 1, &rank) !=
		prefix.length;
	failure_trace_open(failure, index, header);
	return true;
}

/* "  | ": of a group of exceptions; no launcher's prefix. */
static bool has_margin(const struct failure_source *source, struct span line)
{
	struct span text = span_trimmed(line);

	return source->grouped && (failure_words_begin(text, "|") ||
				   failure_words_begin(text, "+-"));
}

bool failure_source_line(struct failure *failure, struct span line)
{
	struct failure_header header;
	size_t index = route(failure, &line);

	if (index == 0 && failure_words_header(line, &header) &&
	    !has_margin(&failure->sources[0], line))
		return open_prefixed(failure, line, &header);
	return failure_trace_line(failure, index, line);
}

const struct failure_trace *failure_source_best(const struct failure *failure)
{
	const struct failure_trace *best = &failure->best;

	for (size_t i = 0; i <= failure->source_count; i++) {
		const struct failure_source *source = &failure->sources[i];

		if (source->state == FAILURE_IN_TRACEBACK &&
		    !source->is_mixed && !source->headless &&
		    source->trace.frame_count &&
		    source->trace.kind > best->kind)
			best = &source->trace;
	}
	return best->kind == FAILURE_NONE ? NULL : best;
}
