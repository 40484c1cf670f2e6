/* The output of a probe: into the log, to lines, to signatures and steps. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/alloc.h"
#include "configs/secrets/secrets.h"
#include "probes/channel/last_errors.h"
#include "probes/output/refusal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One turn reads at most this, so that a flood starves no timer. */
#define READ_TURNS 16
#define READ_BYTES 65536
#define MEMORY_TEXT_MAX 300

static bool is_fragmented(const char *line, size_t length)
{
	char *text = xstrndup(line, length);
	bool answer = allocations_text_is_fragmented(text);

	free(text);
	return answer;
}

/* A reading of SIGKILL and a known cause are kept once, memory decides. */
static void keep_signature(struct probe *probe,
			   const struct signature *signature, const char *line,
			   size_t length)
{
	struct evidence *evidence = &probe->evidence;

	switch (signature->class) {
	case SIGNATURE_KILLED:
		if (!evidence->output.killed_line)
			evidence->output.killed_line = signature;
		break;
	case SIGNATURE_TOO_BIG:
		if (!evidence->output.too_big_line)
			evidence->output.too_big_line = signature;
		break;
	case SIGNATURE_NO_BATCH:
		if (!evidence->output.no_batch_line)
			evidence->output.no_batch_line = signature;
		break;
	case SIGNATURE_CAUSE:
		if (!evidence->output.cause_line)
			evidence->output.cause_line = signature;
		break;
	case SIGNATURE_RMM:
	case SIGNATURE_HOST:
	case SIGNATURE_SHM:
	case SIGNATURE_GPU:
	case SIGNATURE_AMBIGUOUS:
		if (evidence->output.memory_line)
			break;
		evidence->output.memory_line = signature;
		evidence->output.text_is_usual =
			signature == probe->spec.usual_line;
		if (!evidence->output.text_is_usual)
			probe->memory_line_ms = probe_now_ms(probe);
		evidence->output.text_is_fragmented =
			is_fragmented(line, length);
		probe->memory_text = xstrndup(line, length < MEMORY_TEXT_MAX
							    ? length
							    : MEMORY_TEXT_MAX);
		break;
	case SIGNATURE_NONE:
	case SIGNATURE_NOT:
		break;
	}
}

/*
 * A bar of what is loaded, mapped or fetched counts too: where kernels are
 * seen, a counter that rises without any is none of steps. Those of a process
 * that the library is not in are not seen.
 */
static bool ran_a_kernel(struct probe *probe)
{
	uint64_t before = probe->step_launches;

	if (!probe->spec.has_preload || probe->gpu_bypassed)
		return true;
	preload_read(probe->channel.fd, &probe->preload);
	probe->step_launches = probe->preload.launches;
	return !probe->preload.launches || probe->preload.launches > before;
}

static void count_step(struct probe_stream *stream, const char *line,
		       size_t length)
{
	struct probe *probe = stream->probe;
	int64_t counter;

	if (!probe->spec.patterns)
		return;
	counter = step_patterns_match(probe->spec.patterns, line, length);
	if (counter < 0 || !ran_a_kernel(probe))
		return;
	step_count_note(&stream->steps, counter);
	if (stream->steps.steps && probe->log_since_ms < 0)
		probe->log_since_ms = probe_now_ms(probe);
}

/*
 * The line as others may see it: masked before anything is cut, for of half a
 * secret nothing would be found. Valid until the next one.
 */
static const char *shown_line(const struct probe_stream *stream,
			      const char *line, size_t *length)
{
	struct probe *probe = stream->probe;
	/* An @ is the rarer of the two. */
	bool has_url =
		memchr(line, '@', *length) && memmem(line, *length, "://", 3);
	char *text;

	if (!has_url && !stream->may_have_secret)
		return line;
	strbuf_reset(&probe->line);
	redact_feed(&probe->redact, line, *length, &probe->line);
	redact_finish(&probe->redact, &probe->line);
	if (has_url) {
		text = strbuf_detach(&probe->line);
		secrets_mask_text(&probe->line, text, NULL);
		free(text);
	}
	*length = probe->line.length;
	return strbuf_text(&probe->line);
}

/* The first that names a file; one without a name is better than none. */
static void keep_refusal(struct probe *probe, const char *line, size_t length)
{
	char path[REFUSAL_PATH_MAX];

	if (probe->refused_path && probe->refused_path[0])
		return;
	if (!refusal_line(line, length, path))
		return;
	free(probe->refused_path);
	probe->refused_path = xstrdup(path);
}

static void on_line(void *context, const char *line, size_t length)
{
	struct probe_stream *stream = context;
	struct probe *probe = stream->probe;
	const struct signature *signature;
	size_t shown_length = length;
	const char *shown;

	/* What follows autofit's own first signal is no evidence. */
	if (probe->evidence.end.stopped != STOP_NONE)
		return;
	shown = shown_line(stream, line, &shown_length);
	failure_line(&probe->failure, shown, shown_length);
	keep_refusal(probe, shown, shown_length);
	count_step(stream, line, length);
	if (probe->spec.echoes)
		printed_sizes_patterns_match(probe->spec.echoes, line, length,
					     &probe->echo);
	signature = signatures_match(probe->spec.signatures, line, length);
	if (signature)
		keep_signature(probe, signature, shown, shown_length);
}

static void log_bytes(struct probe_stream *stream, const char *bytes,
		      size_t length)
{
	struct probe *probe = stream->probe;
	uint64_t found = stream->redact.found;
	bool has_begun = stream->may_have_secret && stream->lines.length > 0;

	if (!stream->redact.longest) {
		logfile_write(&probe->log, bytes, length);
		return;
	}
	strbuf_reset(&probe->masked);
	redact_feed(&stream->redact, bytes, length, &probe->masked);
	/* What is coloured is whole only when its colours are gone. */
	stream->may_have_secret = has_begun || stream->redact.found > found ||
				  stream->redact.held.length > 0 ||
				  memchr(bytes, 0x1b, length) ||
				  memchr(bytes, '\b', length);
	logfile_write(&probe->log, strbuf_text(&probe->masked),
		      probe->masked.length);
}

void probe_open_output(struct probe *probe)
{
	redact_open(&probe->redact, probe->spec.secrets);
	/* One each: what one of them holds back the other goes past. */
	for (int i = 0; i < 2; i++)
		redact_open(&probe->streams[i].redact, probe->spec.secrets);
}

bool probe_read_stream(struct probe_stream *stream)
{
	struct probe *probe = stream->probe;
	char bytes[READ_BYTES];

	for (int turn = 0; turn < READ_TURNS; turn++) {
		ssize_t got = read(stream->fd, bytes, sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN;
		if (got == 0)
			return false;
		probe->output_bytes += (uint64_t)got;
		log_bytes(stream, bytes, (size_t)got);
		lines_feed(&stream->lines, bytes, (size_t)got, on_line, stream);
	}
	return true;
}

void probe_finish_stream(struct probe_stream *stream)
{
	struct probe *probe = stream->probe;

	strbuf_reset(&probe->masked);
	redact_finish(&stream->redact, &probe->masked);
	lines_finish(&stream->lines, on_line, stream);
	lines_release(&stream->lines);
	logfile_write(&probe->log, strbuf_text(&probe->masked),
		      probe->masked.length);
}

/*
 * The hint is for what is shown. A cause that is named elsewhere counts only
 * where the text is not the failing rank's own traceback.
 */
static void choose_cause(struct probe *probe, const char *shown)
{
	const struct signature *cause = NULL;

	while (*shown && !cause) {
		size_t length = strcspn(shown, "\n");
		const struct signature *found =
			signatures_match(probe->spec.signatures, shown, length);

		if (found && found->class == SIGNATURE_CAUSE)
			cause = found;
		shown += length + (shown[length] == '\n');
	}
	if (cause || failure_is_certain(&probe->failure))
		probe->evidence.output.cause_line = cause;
}

/* Of a log that was cut in its middle only the end is looked at. */
static bool is_printed(struct probe *probe, const char *key)
{
	size_t length;
	const char *end =
		logfile_tail(&probe->log, LOGFILE_TAIL_BYTES, &length);

	return memmem(end, length, key, strlen(key)) != NULL;
}

/* What follows autofit's own first signal is no evidence here either. */
static void add_last_errors(struct probe *probe)
{
	struct last_errors errors = LAST_ERRORS_INIT;

	if (probe->evidence.end.stopped != STOP_NONE || !probe->spec.scratch)
		return;
	last_errors_read(&errors, probe->spec.scratch);
	for (size_t i = 0; i < errors.count; i++) {
		const struct last_error *error = &errors.items[i];
		struct strbuf text = STRBUF_INIT;

		secrets_mask_text(&text, error->text, probe->spec.secrets);
		failure_add_hooked(&probe->failure, strbuf_text(&text),
				   error->rank, is_printed(probe, error->key));
		strbuf_release(&text);
	}
	last_errors_release(&errors);
}

void probe_finish_texts(struct probe *probe)
{
	struct strbuf text = STRBUF_INIT;

	add_last_errors(probe);
	failure_text(&probe->failure, &text);
	choose_cause(probe, strbuf_text(&text));
	/* Once more: a secret may have more than one line. */
	secrets_mask_text(&probe->first_error, strbuf_text(&text),
			  probe->spec.secrets);
	strbuf_release(&text);
}

void probe_release_output(struct probe *probe)
{
	for (int i = 0; i < 2; i++) {
		lines_release(&probe->streams[i].lines);
		redact_release(&probe->streams[i].redact);
	}
	redact_release(&probe->redact);
	strbuf_release(&probe->masked);
	strbuf_release(&probe->line);
	strbuf_release(&probe->first_error);
	free(probe->memory_text);
	free(probe->refused_path);
}
