/* The output of one probe on disk: its beginning and its end, bounded. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/logfile.h"

#include "base/alloc.h"
#include "base/textfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RING_FIRST_BYTES 4096

int logfile_open(struct logfile *log, const char *path, struct error *err)
{
	*log = (struct logfile)LOGFILE_INIT;
	log->fd = open(path,
		       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		       0600);
	if (log->fd < 0)
		return error_set_errno(err, -errno, "cannot write the log %s",
				       path);
	return 0;
}

static void logfile_put(struct logfile *log, const char *bytes, size_t length)
{
	int result = log->fd >= 0 ? file_write_all(log->fd, bytes, length) : 0;

	if (result == 0)
		return;
	(void)error_set_errno(&log->failure, result, "cannot write the log");
	(void)close(log->fd); /* nothing more to lose */
	log->fd = -1;
}

/* Room for more bytes, while the ring has not begun to go round. */
static void grow(struct logfile *log, size_t more)
{
	size_t wanted = log->length + more;

	assert(log->length <= log->capacity || !log->capacity);
	if (wanted > LOGFILE_TAIL_BYTES)
		wanted = LOGFILE_TAIL_BYTES;
	if (wanted <= log->capacity)
		return;
	if (wanted < log->capacity * 2)
		wanted = log->capacity * 2;
	if (wanted < RING_FIRST_BYTES)
		wanted = RING_FIRST_BYTES;
	if (wanted > LOGFILE_TAIL_BYTES)
		wanted = LOGFILE_TAIL_BYTES;
	log->ring = xrealloc(log->ring, wanted, 1);
	log->capacity = wanted;
}

static void add_to_ring(struct logfile *log, const char *bytes, size_t length)
{
	assert(log->length <= LOGFILE_TAIL_BYTES);
	if (length == 0)
		return;
	if (length >= LOGFILE_TAIL_BYTES) {
		bytes += length - LOGFILE_TAIL_BYTES;
		length = LOGFILE_TAIL_BYTES;
	}
	grow(log, length);
	while (length > 0) {
		/* Until it is full it begins at 0, and has room behind. */
		bool full = log->length == LOGFILE_TAIL_BYTES;
		size_t at = full ? log->start : log->length;
		size_t count = log->capacity - at;

		if (count > length)
			count = length;
		assert(at < log->capacity && count > 0);
		memcpy(log->ring + at, bytes, count);
		if (full)
			log->start = (log->start + count) % log->capacity;
		else
			log->length += count;
		bytes += count;
		length -= count;
	}
}

void logfile_write(struct logfile *log, const char *bytes, size_t length)
{
	if (log->total_bytes < LOGFILE_HEAD_BYTES) {
		size_t room = LOGFILE_HEAD_BYTES - (size_t)log->total_bytes;

		logfile_put(log, bytes, length < room ? length : room);
	}
	add_to_ring(log, bytes, length);
	log->total_bytes += length;
}

static void reverse(char *bytes, size_t length)
{
	for (size_t i = 0; i < length / 2; i++) {
		char kept = bytes[i];

		bytes[i] = bytes[length - 1 - i];
		bytes[length - 1 - i] = kept;
	}
}

/* Bring the oldest byte to the front, in place. */
static void straighten(struct logfile *log)
{
	if (log->start == 0)
		return;
	assert(log->start < log->length && log->length == log->capacity);
	reverse(log->ring, log->start);
	reverse(log->ring + log->start, log->length - log->start);
	reverse(log->ring, log->length);
	log->start = 0;
}

const char *logfile_tail(struct logfile *log, size_t max_bytes, size_t *length)
{
	*length = log->length < max_bytes ? log->length : max_bytes;
	if (*length == 0)
		return "";
	straighten(log);
	return log->ring + log->length - *length;
}

/* What of the ring is not in the head. */
static void write_rest(struct logfile *log)
{
	uint64_t ring_from = log->total_bytes - log->length;
	size_t skip = 0;

	if (log->total_bytes <= LOGFILE_HEAD_BYTES)
		return;
	assert(log->length <= log->total_bytes);
	if (ring_from < LOGFILE_HEAD_BYTES) {
		skip = LOGFILE_HEAD_BYTES - (size_t)ring_from;
	} else if (ring_from > LOGFILE_HEAD_BYTES) {
		char line[96];
		int count = snprintf(line, sizeof(line),
				     "\n[autofit: %" PRIu64
				     " bytes are left out here]\n",
				     ring_from - LOGFILE_HEAD_BYTES);

		logfile_put(log, line, count > 0 ? (size_t)count : 0);
	}
	assert(skip <= log->length);
	straighten(log);
	logfile_put(log, log->ring + skip, log->length - skip);
}

int logfile_close(struct logfile *log, struct error *err)
{
	int result;

	if (log->fd >= 0)
		write_rest(log);
	/* A network file system may tell of a full disk only here. */
	if (log->fd >= 0 && close(log->fd) < 0 && errno != EINTR)
		(void)error_set_errno(&log->failure, -errno,
				      "cannot write the log");
	result = log->failure.code;
	if (result < 0)
		(void)error_set(err, result, "%s", log->failure.message);
	free(log->ring);
	*log = (struct logfile)LOGFILE_INIT;
	return result;
}
