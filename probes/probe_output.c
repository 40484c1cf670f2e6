/* The output of a probe: into the log, to lines, to signatures and steps. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* One turn reads at most this, so that a flood starves no timer. */
#define READ_TURNS 16
#define READ_BYTES 65536
#define MEMORY_TEXT_MAX 300

/* A reading of SIGKILL and a known cause are kept once, memory decides. */
static void keep_signature(struct probe *probe,
			   const struct signature *signature, const char *line,
			   size_t length)
{
	struct evidence *evidence = &probe->evidence;

	switch (signature->class) {
	case SIGNATURE_KILLED:
		if (!evidence->killed_line)
			evidence->killed_line = signature;
		break;
	case SIGNATURE_TOO_BIG:
		if (!evidence->too_big_line)
			evidence->too_big_line = signature;
		break;
	case SIGNATURE_CAUSE:
		if (!evidence->cause_line)
			evidence->cause_line = signature;
		break;
	case SIGNATURE_RMM:
	case SIGNATURE_HOST:
	case SIGNATURE_SHM:
	case SIGNATURE_GPU:
	case SIGNATURE_AMBIGUOUS:
		if (evidence->memory_line)
			break;
		evidence->memory_line = signature;
		probe->memory_line_ms = probe_now_ms(probe);
		probe->memory_text = xstrndup(line, length < MEMORY_TEXT_MAX
							    ? length
							    : MEMORY_TEXT_MAX);
		break;
	case SIGNATURE_NONE:
	case SIGNATURE_NOT:
		break;
	}
}

static void count_step(struct probe_stream *stream, const char *line,
		       size_t length)
{
	struct probe *probe = stream->probe;

	if (!probe->spec.patterns)
		return;
	step_count_note(
		&stream->steps,
		step_patterns_match(probe->spec.patterns, line, length));
	if (stream->steps.steps && probe->log_since_ms < 0)
		probe->log_since_ms = probe_now_ms(probe);
}

static void on_line(void *context, const char *line, size_t length)
{
	struct probe_stream *stream = context;
	struct probe *probe = stream->probe;
	const struct signature *signature;

	/* What follows autofit's own first signal is no evidence. */
	if (probe->evidence.stopped != STOP_NONE)
		return;
	failure_line(&probe->failure, line, length);
	count_step(stream, line, length);
	signature = signatures_match(probe->spec.signatures, line, length);
	if (signature)
		keep_signature(probe, signature, line, length);
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
		logfile_write(&probe->log, bytes, (size_t)got);
		lines_feed(&stream->lines, bytes, (size_t)got, on_line, stream);
	}
	return true;
}

void probe_finish_stream(struct probe_stream *stream)
{
	lines_finish(&stream->lines, on_line, stream);
	lines_release(&stream->lines);
}
