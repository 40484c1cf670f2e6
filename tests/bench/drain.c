/* How fast the output of a probe is read: MB/s of each stage and of all. */
/* SPDX-License-Identifier: MIT */
/*
 * Links probes, configs and base; build it with -O2 and without sanitizers.
 * Usage: drain [--megabytes N]
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/units.h"
#include "configs/presets/steps.h"
#include "configs/signatures/signature.h"
#include "probes/output/failure.h"
#include "probes/output/lines.h"
#include "probes/output/logfile.h"
#include "probes/output/redact.h"
#include "probes/output/refusal.h"
#include "tests/bench/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As a pipe delivers it. */
#define CHUNK_BYTES 65536

struct sink {
	const struct signatures *signatures; /* NULL: not in this stage */
	const struct step_patterns *steps;
	const struct refusal *refusal;
	struct failure *failure; /* NULL: not in this stage */
	const struct strlist *secrets;
	uint64_t lines, signature_hits, step_hits;
	/* Between the pipe and the log, and of each line. */
	struct redact stream, line;
	struct strbuf masked, shown;
};

static double now(void)
{
	return times_ns(CLOCK_MONOTONIC) / 1e9;
}

/* Eight kinds of lines, 60 to 130 bytes; every second one shows a step. */
static void add_line(struct strbuf *log, uint64_t number)
{
	uint64_t loss = 1000 + number * 7919 % 9000;

	switch (number % 8) {
	case 0:
	case 4:
		strbuf_addf(log,
			    "iter %" PRIu64 ": loss 2.%" PRIu64
			    ", time 77.67ms, mfu 3.21%%, grad norm 0.98, "
			    "tokens per second 52123\n",
			    number, loss);
		break;
	case 1:
		strbuf_addf(log,
			    " 17%%|#7        | %" PRIu64
			    "/60000 [00:12<01:02, 8.21it/s, loss=2.%" PRIu64
			    ", lr=0.0003]\r",
			    number, loss);
		break;
	case 2:
		strbuf_addf(log,
			    "2026-02-03 11:02:14,301 - root - INFO - "
			    "\033[31mstep: %" PRIu64
			    "  \033[32mloss: 2.%" PRIu64
			    "\033[39m memory: 30.10GiB(42%%) tps: 9,812\n",
			    number, loss);
		break;
	case 3:
		strbuf_addf(log,
			    "[2026-02-03 11:02:14] worker %" PRIu64
			    ": shard /data/imagenet/room_zoom.tar is open, "
			    "reserved 512 MiB of cache\n",
			    number % 16);
		break;
	case 5:
		strbuf_addf(log,
			    "{'loss': 2.%" PRIu64 ", 'grad_norm': 1.0321, "
			    "'learning_rate': 4.9e-05, 'epoch': 0.%" PRIu64
			    "}\n",
			    loss, loss);
		break;
	case 6:
		strbuf_addf(log,
			    "WARNING: sample %" PRIu64
			    " has 514 tokens and is cut to 512; see the notes "
			    "on long samples\n",
			    loss);
		break;
	default:
		strbuf_addf(log,
			    "Epoch: [0][%5" PRIu64
			    "/60000]  Time  0.123 ( 0.125)  Data  0.001 "
			    "( 0.002)  Loss 2.%" PRIu64 "e+00 Acc@1  12.50\n",
			    number, loss);
	}
}

static void on_line(void *context, const char *line, size_t length)
{
	struct sink *sink = context;
	struct signature_found found = { 0 };
	char path[REFUSAL_PATH_MAX];

	sink->lines++;
	if (sink->secrets) {
		strbuf_reset(&sink->shown);
		redact_feed(&sink->line, line, length, &sink->shown);
		redact_finish(&sink->line, &sink->shown);
	}
	if (sink->failure)
		failure_line(sink->failure, line, length);
	if (sink->signatures &&
	    signatures_match(sink->signatures, line, length, &found))
		sink->signature_hits++;
	if (sink->signatures && sink->refusal &&
	    signatures_pick(sink->signatures, &found, SIGNATURE_REFUSED,
			    (struct span){ line, length }) &&
	    refusal_line(sink->refusal, line, length, path))
		sink->signature_hits++;
	if (sink->steps && step_patterns_match(sink->steps, line, length) >= 0)
		sink->step_hits++;
}

static void write_log(struct sink *sink, struct logfile *file,
		      const char *bytes, size_t length)
{
	if (!sink->secrets) {
		logfile_write(file, bytes, length);
		return;
	}
	strbuf_reset(&sink->masked);
	redact_feed(&sink->stream, bytes, length, &sink->masked);
	logfile_write(file, strbuf_text(&sink->masked), sink->masked.length);
}

/* Feed the log once; the rate in MB/s. */
static double drain(const struct strbuf *log, struct sink *sink,
		    struct logfile *file)
{
	struct lines lines = LINES_INIT;
	double begun = now();
	double seconds;

	for (size_t at = 0; at < log->length; at += CHUNK_BYTES) {
		size_t count = log->length - at;

		if (count > CHUNK_BYTES)
			count = CHUNK_BYTES;
		if (file)
			write_log(sink, file, log->data + at, count);
		lines_feed(&lines, log->data + at, count, on_line, sink);
	}
	lines_finish(&lines, on_line, sink);
	seconds = now() - begun;
	lines_release(&lines);
	return (double)log->length / 1e6 / (seconds > 0 ? seconds : 1e-9);
}

/* The best of three: other work on the machine only slows. */
static void stage(const char *name, const struct strbuf *log,
		  const struct sink *settings, const char *path)
{
	struct sink sink = { 0 };
	double best = 0;

	for (int i = 0; i < 3; i++) {
		struct logfile file = LOGFILE_INIT;
		double rate;

		sink = *settings;
		redact_open(&sink.stream, sink.secrets);
		redact_open(&sink.line, sink.secrets);
		if (path && logfile_open(&file, path, NULL) < 0)
			path = NULL;
		rate = drain(log, &sink, path ? &file : NULL);
		(void)logfile_close(&file, NULL); /* only its speed counts */
		redact_release(&sink.stream);
		redact_release(&sink.line);
		strbuf_release(&sink.masked);
		strbuf_release(&sink.shown);
		if (rate > best)
			best = rate;
	}
	printf("%-28s %8.0f MB/s  %" PRIu64 " lines, %" PRIu64
	       " signatures, %" PRIu64 " steps\n",
	       name, best, sink.lines, sink.signature_hits, sink.step_hits);
}

static int make_steps(struct step_patterns **steps, struct error *err)
{
	static const char *const patterns[] = {
		"iter (?<step>[0-9]+): loss [0-9.]+",
		"\\| +(?<step>[0-9]+)/[0-9]+ \\[[0-9:]+<",
		"step: +(?<step>[0-9,]+) +loss: ",
		"Epoch: \\[[0-9]+\\]\\[ *(?<step>[0-9]+)/[0-9]+\\]",
	};
	static const char *const ignored[] = { "Validation", "Map",
					       "Evaluating",
					       "Loading checkpoint shards" };
	struct strlist list = STRLIST_INIT;
	struct strlist ignore = STRLIST_INIT;
	int result;

	strlist_add_all(&list, patterns, sizeof(patterns) / sizeof(*patterns));
	strlist_add_all(&ignore, ignored, sizeof(ignored) / sizeof(*ignored));
	result = step_patterns_make(steps, &list, &ignore, err);
	strlist_release(&list);
	strlist_release(&ignore);
	return result;
}

static int64_t megabytes_of(int argc, char **argv)
{
	int64_t megabytes = 64;

	if (argc == 1)
		return megabytes;
	if (argc == 3 && strcmp(argv[1], "--megabytes") == 0 &&
	    integer_parse(argv[2], &megabytes, NULL) == 0 && megabytes > 0 &&
	    megabytes <= 1024)
		return megabytes;
	(void)fputs("usage: drain [--megabytes N], N from 1 to 1024\n", stderr);
	return -1;
}

static void run_stages(const struct strbuf *log, const struct sink *all)
{
	const struct sink none = { 0 };
	const struct sink signatures = { .signatures = all->signatures };
	const struct sink steps = { .steps = all->steps };
	const struct sink refusals = { .signatures = all->signatures,
				       .refusal = all->refusal };
	const struct sink failures = { .failure = all->failure };
	struct strlist values = STRLIST_INIT;
	struct sink masking = *all;
	char path[] = "/tmp/drain-XXXXXX";
	int fd = mkstemp(path);

	if (fd >= 0)
		(void)close(fd); /* only its name is needed */
	stage("lines", log, &none, NULL);
	stage("lines+signatures", log, &signatures, NULL);
	stage("lines+steps", log, &steps, NULL);
	stage("lines+logfile", log, &none, path);
	stage("lines+signatures+refusals", log, &refusals, NULL);
	stage("lines+failures", log, &failures, NULL);
	stage("all", log, all, path);
	strlist_add(&values, "hf_QwErTyUiOpAsDfGhJkLzXcVbNm");
	strlist_add(&values, "0123456789abcdef0123456789abcdef01234567");
	strlist_add(&values, "correct horse battery staple");
	masking.secrets = &values;
	stage("all, with secrets", log, &masking, path);
	strlist_release(&values);
	(void)unlink(path); /* a file of our own */
}

int main(int argc, char **argv)
{
	struct strbuf log = STRBUF_INIT;
	struct signatures *signatures = NULL;
	struct step_patterns *steps = NULL;
	struct refusal *refusal;
	struct sink all = { 0 };
	struct error err = ERROR_INIT;
	int64_t megabytes = megabytes_of(argc, argv);
	double begun;

	if (megabytes < 0)
		return 2;
	begun = now();
	if (signatures_load(&signatures, NULL, &err) < 0 ||
	    make_steps(&steps, &err) < 0) {
		(void)fprintf(stderr, "drain: %s\n", err.message);
		return 1;
	}
	printf("load and compile             %8.1f ms\n",
	       (now() - begun) * 1e3);
	for (uint64_t i = 0; log.length < (size_t)megabytes * 1000000; i++)
		add_line(&log, i);
	all.signatures = signatures;
	all.steps = steps;
	all.refusal = refusal = refusal_make();
	all.failure = xcalloc(1, sizeof(*all.failure));
	run_stages(&log, &all);
	free(all.failure);
	refusal_free(refusal);
	signatures_free(signatures);
	step_patterns_free(steps);
	strbuf_release(&log);
	return 0;
}
