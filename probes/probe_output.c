/* The output of a probe: into the log, to lines, to signatures and steps. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_output.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/secrets/secrets.h"
#include "probes/channel/last_errors.h"
#include "probes/output/refusal.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One turn reads at most this, so that a flood starves no timer. */
#define READ_TURNS 16
#define READ_BYTES 16384
#define MEMORY_TEXT_MAX 300
/* More than a pipe holds at the end comes from a process that got away. */
#define LAST_TURNS_MAX 8

static void keep_memory_line(struct probe_output *output,
			     const struct signature *signature,
			     const char *line, size_t length)
{
	struct evidence_output *found = &output->found;
	char *text;

	if (found->memory_line)
		return;
	assert(signature->class >= SIGNATURE_RMM &&
	       signature->class <= SIGNATURE_AMBIGUOUS);
	text = xstrndup(line, length);
	found->memory_line = signature;
	found->text_is_usual = signature == output->spec->lines.usual;
	found->text_is_fragmented = allocations_text_is_fragmented(text);
	found->asked_bytes = allocations_text_asked(text);
	if (!found->text_is_usual)
		output->memory_line_ms = probe_clock_ms(output->clock);
	if (length > MEMORY_TEXT_MAX)
		text[MEMORY_TEXT_MAX] = '\0';
	output->memory_text = text;
}

/* Where a line of this class is kept; NULL: nowhere. */
static const struct signature **slot_of(struct evidence_output *found,
					enum signature_class class)
{
	if (class == SIGNATURE_KILLED)
		return &found->killed_line;
	if (class == SIGNATURE_TOO_BIG)
		return &found->too_big_line;
	if (class == SIGNATURE_NO_BATCH)
		return &found->no_batch_line;
	return class == SIGNATURE_CAUSE ? &found->cause_line : NULL;
}

/* The first line of each class is kept. */
static void keep_signature(struct probe_output *output,
			   const struct signature *signature, const char *line,
			   size_t length)
{
	enum signature_class class = signature->class;
	const struct signature **slot = slot_of(&output->found, class);

	if (class >= SIGNATURE_RMM && class <= SIGNATURE_AMBIGUOUS)
		keep_memory_line(output, signature, line, length);
	else if (slot && !*slot)
		*slot = signature;
}

/*
 * A bar of what is loaded, mapped or fetched counts too: where kernels are
 * seen, a counter that rises without any is none of steps.
 */
static void count_step(struct probe_stream *stream, const char *line,
		       size_t length)
{
	struct probe_output *output = stream->output;
	const struct step_patterns *patterns = output->spec->lines.steps;
	int64_t steps = stream->steps.steps;
	int64_t counter =
		patterns ? step_patterns_match(patterns, line, length) : -1;

	if (counter < 0 ||
	    !probe_gpus_ran_kernel(output->gpus, &output->counted_launches))
		return;
	step_count_note(&stream->steps, counter);
	if (stream->steps.steps > steps)
		output->last_counter_ns = uv_hrtime();
	if (stream->steps.steps && output->first_counter_ms < 0)
		output->first_counter_ms = probe_clock_ms(output->clock);
}

/*
 * The line as others may see it: masked before anything is cut, for of half a
 * secret nothing would be found. Valid until the next one.
 */
static const char *shown_line(const struct probe_stream *stream,
			      const char *line, size_t *length)
{
	struct probe_output *output = stream->output;
	/* An @ is the rarer of the two. */
	bool has_url =
		memchr(line, '@', *length) && memmem(line, *length, "://", 3);
	char *text;

	if (!has_url && !stream->may_have_secret)
		return line;
	strbuf_reset(&output->line);
	redact_feed(&output->redact, line, *length, &output->line);
	redact_finish(&output->redact, &output->line);
	if (has_url) {
		text = strbuf_detach(&output->line);
		secrets_mask_text(&output->line, text, NULL);
		free(text);
	}
	*length = output->line.length;
	return strbuf_text(&output->line);
}

/* The first that names a file; one without a name is better than none. */
static void keep_refusal(struct probe_output *output, const char *line,
			 size_t length)
{
	char path[REFUSAL_PATH_MAX];

	if (output->refused_path && output->refused_path[0])
		return;
	if (!output->refusal)
		output->refusal = refusal_make();
	if (!refusal_line(output->refusal, line, length, path))
		return;
	free(output->refused_path);
	output->refused_path = xstrdup(path);
}

static void probe_output_on_line(void *context, const char *line, size_t length)
{
	struct probe_stream *stream = context;
	struct probe_output *output = stream->output;
	const struct probe_lines *wanted = &output->spec->lines;
	struct signature_found found = { 0 };
	const struct signature *signature;
	size_t shown_length = length;
	const char *shown;

	if (output->stop_was_sent)
		return;
	signature = signatures_match(wanted->signatures, line, length, &found);
	shown = shown_line(stream, line, &shown_length);
	failure_line(&output->failure, shown, shown_length);
	if (signatures_pick(wanted->signatures, &found, SIGNATURE_REFUSED,
			    (struct span){ shown, shown_length }))
		keep_refusal(output, shown, shown_length);
	count_step(stream, line, length);
	if (wanted->sizes)
		printed_sizes_patterns_match(wanted->sizes, line, length,
					     &output->sizes);
	if (signature)
		keep_signature(output, signature, shown, shown_length);
}

static void log_bytes(struct probe_stream *stream, const char *bytes,
		      size_t length)
{
	struct probe_output *output = stream->output;
	uint64_t found = stream->redact.found;
	bool has_begun = stream->may_have_secret && stream->lines.length > 0;

	assert(length > 0);
	if (!stream->redact.longest) {
		logfile_write(&output->log, bytes, length);
		return;
	}
	strbuf_reset(&output->masked);
	redact_feed(&stream->redact, bytes, length, &output->masked);
	/* What is coloured is whole only when its colours are gone. */
	stream->may_have_secret = has_begun || stream->redact.found > found ||
				  stream->redact.held.length > 0 ||
				  memchr(bytes, 0x1b, length) ||
				  memchr(bytes, '\b', length);
	logfile_write(&output->log, strbuf_text(&output->masked),
		      output->masked.length);
}

void probe_output_open(struct probe_output *output,
		       const struct probe_spec *spec)
{
	output->spec = spec;
	output->log = (struct logfile)LOGFILE_INIT;
	output->memory_line_ms = -1;
	output->first_counter_ms = -1;
	/* A probe without its log is still a probe; its close tells why. */
	(void)logfile_open(&output->log, spec->log_path, NULL);
	redact_open(&output->redact, spec->secrets);
	/* One each: what one of them holds back the other goes past. */
	for (int i = 0; i < 2; i++) {
		output->streams[i].output = output;
		output->streams[i].fd = -1;
		redact_open(&output->streams[i].redact, spec->secrets);
	}
}

bool probe_output_read(struct probe_stream *stream)
{
	char bytes[READ_BYTES];

	assert(stream->fd >= 0);
	for (int turn = 0; turn < READ_TURNS; turn++) {
		ssize_t got = read(stream->fd, bytes, sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN;
		if (got == 0)
			return false;
		stream->output->bytes += (uint64_t)got;
		log_bytes(stream, bytes, (size_t)got);
		lines_feed(&stream->lines, bytes, (size_t)got,
			   probe_output_on_line, stream);
	}
	return true;
}

/*
 * The hint is for what is shown. A cause that is named elsewhere counts only
 * where the text is not the failing rank's own traceback.
 */
static void choose_cause(struct probe_output *output, const char *shown)
{
	const struct signature *cause = NULL;

	while (*shown && !cause) {
		size_t length = strcspn(shown, "\n");
		const struct signature *found = signatures_match(
			output->spec->lines.signatures, shown, length, NULL);

		if (found && found->class == SIGNATURE_CAUSE)
			cause = found;
		shown += length + (shown[length] == '\n');
	}
	if (cause || failure_is_certain(&output->failure))
		output->found.cause_line = cause;
}

/* Only the end is looked at of a log that was cut in its middle. */
static bool probe_output_is_printed(struct probe_output *output,
				    const char *key)
{
	size_t length;
	const char *end =
		logfile_tail(&output->log, LOGFILE_TAIL_BYTES, &length);

	return memmem(end, length, key, strlen(key)) != NULL;
}

void probe_output_add_last_errors(struct probe_output *output, int lost_rank)
{
	const char *scratch = output->spec->command.scratch;
	struct last_errors errors = LAST_ERRORS_INIT;

	if (output->stop_was_sent || !scratch)
		return;
	last_errors_read(&errors, scratch);
	for (size_t i = 0; i < errors.count; i++) {
		const struct last_error *error = &errors.items[i];
		struct strbuf text = STRBUF_INIT;

		secrets_mask_text(&text, error->text, output->spec->secrets);
		failure_add_hooked(
			&output->failure, strbuf_text(&text), error->rank,
			(lost_rank >= 0 && error->rank == lost_rank) ||
				probe_output_is_printed(output, error->key));
		strbuf_release(&text);
	}
	last_errors_release(&errors);
}

static void read_what_is_left(struct probe_stream *stream)
{
	struct pollfd waiting = { .fd = stream->fd, .events = POLLIN };

	for (int turn = 0; turn < LAST_TURNS_MAX; turn++)
		if (poll(&waiting, 1, 0) <= 0 || !(waiting.revents & POLLIN) ||
		    !probe_output_read(stream))
			break;
}

void probe_output_finish(struct probe_output *output)
{
	struct strbuf text = STRBUF_INIT;

	for (int i = 0; i < 2; i++) {
		struct probe_stream *stream = &output->streams[i];

		read_what_is_left(stream);
		strbuf_reset(&output->masked);
		redact_finish(&stream->redact, &output->masked);
		lines_finish(&stream->lines, probe_output_on_line, stream);
		logfile_write(&output->log, strbuf_text(&output->masked),
			      output->masked.length);
	}
	probe_output_add_last_errors(output, -1);
	failure_text(&output->failure, &text);
	choose_cause(output, strbuf_text(&text));
	/* Once more: a secret may have more than one line. */
	secrets_mask_text(&output->first_error, strbuf_text(&text),
			  output->spec->secrets);
	strbuf_release(&text);
}

int64_t probe_output_steps(const struct probe_output *output)
{
	int64_t out = output->streams[0].steps.steps;
	int64_t err = output->streams[1].steps.steps;

	return out > err ? out : err;
}

void probe_output_release(struct probe_output *output)
{
	struct error err = ERROR_INIT;

	for (int i = 0; i < 2; i++) {
		lines_release(&output->streams[i].lines);
		redact_release(&output->streams[i].redact);
	}
	redact_release(&output->redact);
	strbuf_release(&output->masked);
	strbuf_release(&output->line);
	strbuf_release(&output->first_error);
	free(output->memory_text);
	free(output->refused_path);
	refusal_free(output->refusal);
	if (logfile_close(&output->log, &err) < 0)
		log_warning("the log of a probe is not complete: %s",
			    err.message);
}
