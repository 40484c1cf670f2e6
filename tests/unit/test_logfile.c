/* The log of a probe: its beginning, its end, and a line for what is between.
 */
/* SPDX-License-Identifier: MIT */
/* USES probes base */
#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "probes/output/logfile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD LOGFILE_HEAD_BYTES
#define TAIL LOGFILE_TAIL_BYTES

static int make_folder(void **state)
{
	char *folder = xstrdup("/tmp/autofit-logfile-XXXXXX");

	if (!mkdtemp(folder))
		return -1;
	*state = folder;
	return 0;
}

static int remove_folder(void **state)
{
	char *path = xasprintf("%s/log", (const char *)*state);

	(void)unlink(path); /* not every test leaves it */
	free(path);
	(void)rmdir(*state);
	free(*state);
	return 0;
}

/* Byte number i of a stream that repeats only after 250 * 251 bytes. */
static char stream_byte(size_t i)
{
	return (char)('!' + (i % 250 * 7 + i / 250 % 251) % 90);
}

static char *make_stream(size_t length)
{
	char *stream = xmalloc(length + 1);

	for (size_t i = 0; i < length; i++)
		stream[i] = stream_byte(i);
	return stream;
}

static void check_tail(struct logfile *log, const char *stream, size_t total)
{
	static const size_t asked[] = { 0, 1, 100, 65536, TAIL, TAIL + 1 };

	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		size_t most = total < TAIL ? total : TAIL;
		size_t expected = asked[i] < most ? asked[i] : most;
		size_t length = 0;
		const char *tail = logfile_tail(log, asked[i], &length);

		assert_int_equal(length, expected);
		assert_memory_equal(tail, stream + total - expected, expected);
	}
}

static void check_file(const char *path, const char *stream, size_t total)
{
	struct strbuf text = STRBUF_INIT;
	char line[80] = "";

	assert_int_equal(
		textfile_read(path, (size_t)8 * 1024 * 1024, &text, NULL), 0);
	if (total <= HEAD + TAIL) {
		assert_int_equal(text.length, total);
		assert_memory_equal(strbuf_text(&text), stream, total);
	} else {
		size_t count;

		(void)snprintf(line, sizeof(line),
			       "\n[autofit: %zu bytes are left out here]\n",
			       total - HEAD - TAIL);
		count = strlen(line);
		assert_int_equal(text.length, HEAD + count + TAIL);
		assert_memory_equal(text.data, stream, HEAD);
		assert_memory_equal(text.data + HEAD, line, count);
		assert_memory_equal(text.data + HEAD + count,
				    stream + total - TAIL, TAIL);
	}
	strbuf_release(&text);
}

static void ends_are_kept(void **state)
{
	static const struct {
		const char *name;
		size_t total, step;
	} rows[] = {
		{ "nothing", 0, 1 },
		{ "one byte", 1, 1 },
		{ "small", 5000, 77 },
		{ "head less one", HEAD - 1, 65536 },
		{ "head", HEAD, 65536 },
		{ "head and one", HEAD + 1, 65536 },
		{ "tail", TAIL, 65521 },
		{ "tail and one", TAIL + 1, 65521 },
		{ "both", HEAD + TAIL, 65536 },
		{ "both and one", HEAD + TAIL + 1, 65521 },
		{ "both and one at once", HEAD + TAIL + 1, HEAD + TAIL + 1 },
		{ "twice round", HEAD + 2 * TAIL + 12345, 65521 },
		{ "large pieces", 3 * TAIL + 17, TAIL + 3 },
	};
	char *path = xasprintf("%s/log", (const char *)*state);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct logfile log = LOGFILE_INIT;
		size_t total = rows[i].total;
		char *stream = make_stream(total);

		print_message("%s\n", rows[i].name);
		assert_int_equal(logfile_open(&log, path, NULL), 0);
		for (size_t at = 0; at < total; at += rows[i].step)
			logfile_write(&log, stream + at,
				      total - at < rows[i].step ? total - at
								: rows[i].step);
		assert_true(log.capacity <= TAIL);
		check_tail(&log, stream, total);
		assert_int_equal(logfile_close(&log, NULL), 0);
		check_file(path, stream, total);
		assert_int_equal(logfile_close(&log, NULL), 0);
		check_file(path, stream, total);
		free(stream);
	}
	free(path);
}

/* The ring may be straightened at any moment without losing its order. */
static void tail_between_writes(void **state)
{
	char *path = xasprintf("%s/log", (const char *)*state);
	size_t total = HEAD + TAIL + TAIL / 2;
	char *stream = make_stream(total);
	struct logfile log = LOGFILE_INIT;
	size_t length;

	assert_int_equal(logfile_open(&log, path, NULL), 0);
	for (size_t at = 0; at < total; at += 300007) {
		size_t count = total - at < 300007 ? total - at : 300007;
		const char *tail;

		logfile_write(&log, stream + at, count);
		tail = logfile_tail(&log, 1000, &length);
		assert_int_equal(length, 1000);
		assert_memory_equal(tail, stream + at + count - 1000, 1000);
	}
	assert_int_equal(logfile_close(&log, NULL), 0);
	check_file(path, stream, total);
	free(stream);
	free(path);
}

static void head_is_there_before_close(void **state)
{
	char *path = xasprintf("%s/log", (const char *)*state);
	struct strbuf text = STRBUF_INIT;
	struct logfile log = LOGFILE_INIT;
	struct stat status;

	assert_int_equal(logfile_open(&log, path, NULL), 0);
	logfile_write(&log, "hello\n", 6);
	assert_int_equal(textfile_read(path, 100, &text, NULL), 0);
	assert_string_equal(strbuf_text(&text), "hello\n");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_true(log.capacity < 65536);
	assert_int_equal(logfile_close(&log, NULL), 0);
	strbuf_release(&text);
	free(path);
}

static void older_file_is_replaced(void **state)
{
	char *path = xasprintf("%s/log", (const char *)*state);
	struct logfile log = LOGFILE_INIT;

	assert_int_equal(textfile_replace(path, 0600, "old and long", 12, NULL),
			 0);
	assert_int_equal(logfile_open(&log, path, NULL), 0);
	logfile_write(&log, "!", 1);
	assert_int_equal(logfile_close(&log, NULL), 0);
	check_file(path, "!", 1);
	free(path);
}

static void failures_are_told(void **state)
{
	char *path = xasprintf("%s/log", (const char *)*state);
	struct logfile log = LOGFILE_INIT;
	struct error err = ERROR_INIT;
	size_t length;

	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(logfile_open(&log, path, &err), -ELOOP);
	assert_non_null(strstr(err.message, path));
	logfile_write(&log, "still here", 10);
	assert_memory_equal(logfile_tail(&log, 4, &length), "here", 4);
	assert_int_equal(length, 4);
	assert_int_equal(logfile_close(&log, NULL), 0);

	/* A full disk. */
	assert_int_equal(logfile_open(&log, "/dev/full", NULL), 0);
	logfile_write(&log, "some bytes", 10);
	logfile_write(&log, "and more", 8);
	assert_memory_equal(logfile_tail(&log, 8, &length), "and more", 8);
	assert_int_equal(logfile_close(&log, &err), -ENOSPC);
	assert_int_equal(err.code, -ENOSPC);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_are_kept, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(tail_between_writes,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(head_is_there_before_close,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(older_file_is_replaced,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(failures_are_told, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
