/* A keeper's orders survive the way to the process that forks it. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/keeper/keeper_parcel.h"

#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add_items(struct strlist *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strlist_addf(list, "%zu \"quoted\"\n%.*s", i, (int)(i % 5),
			     "=\x01\xff\xfe");
	strlist_add(list, "");
}

static void release(struct keeper_parcel *parcel)
{
	strlist_release(&parcel->argv);
	strlist_release(&parcel->environment);
	strlist_release(&parcel->extra_files);
	strlist_release(&parcel->shared);
	strlist_release(&parcel->guarded);
	strlist_release(&parcel->covers);
	strlist_release(&parcel->shims.names);
	strlist_release(&parcel->shims.always);
	free((void *)(uintptr_t)parcel->spec.mark);
	free(parcel->shims.folder);
	free(parcel->shims.mark);
	free((void *)(uintptr_t)parcel->spec.scratch);
	free((void *)(uintptr_t)parcel->isolation.working);
	free((void *)(uintptr_t)parcel->isolation.scratch);
	free((void *)(uintptr_t)parcel->isolation.path);
}

static void assert_text(const char *got, const char *wanted)
{
	if (wanted)
		assert_string_equal(got, wanted);
	else
		assert_null(got);
}

static void assert_list(const struct strlist *got, const struct strlist *wanted)
{
	assert_true((got != NULL) == (wanted != NULL));
	if (wanted)
		assert_true(strlist_equal(got, wanted));
}

static void assert_isolation(const struct isolation_spec *got,
			     const struct isolation_spec *wanted)
{
	assert_true((got != NULL) == (wanted != NULL));
	if (!got || !wanted)
		return;
	assert_int_equal(got->kind, wanted->kind);
	assert_text(got->working, wanted->working);
	assert_text(got->scratch, wanted->scratch);
	assert_list(got->shared, wanted->shared);
	assert_list(got->guarded, wanted->guarded);
	assert_text(got->path, wanted->path);
	assert_list(got->covers, wanted->covers);
	assert_true((got->shims != NULL) == (wanted->shims != NULL));
	if (wanted->shims)
		assert_list(&got->shims->names, &wanted->shims->names);
}

static void assert_arrives(const struct keeper_spec *spec)
{
	struct strbuf bytes = STRBUF_INIT;
	struct keeper_parcel got;

	keeper_parcel_write(&bytes, spec);
	assert_int_equal(keeper_parcel_read(&got, bytes.data, bytes.length), 0);
	assert_list(got.spec.argv, spec->argv);
	assert_list(got.spec.environment, spec->environment);
	assert_memory_equal(got.spec.state, spec->state, sizeof(*spec->state));
	assert_text(got.spec.scratch, spec->scratch);
	assert_text(got.spec.mark, spec->mark);
	assert_list(got.spec.extra_files, spec->extra_files);
	assert_true((got.spec.cgroup != NULL) == (spec->cgroup != NULL));
	if (spec->cgroup)
		assert_memory_equal(got.spec.cgroup, spec->cgroup,
				    sizeof(*spec->cgroup));
	assert_isolation(got.spec.isolation, spec->isolation);
	release(&got);
	strbuf_release(&bytes);
}

/* Which of the parts that may be missing are there, one bit each. */
enum { WITH_CGROUP = 1, WITH_ISOLATION = 2, WITH_SHIMS = 4, WITH_FILES = 8 };

static void each_part_arrives(void **state)
{
	struct process_state process = { .subreaper = 1, .ignored = { true } };
	const struct host_cgroup cgroup = { "/a/folder", true };
	struct shims shims = { .folder = (char *)(uintptr_t) "/s",
			       .mark = (char *)(uintptr_t) "/s/mark" };
	struct strlist argv = STRLIST_INIT, list = STRLIST_INIT;

	(void)state;
	add_items(&argv, 300);
	add_items(&list, 3);
	add_items(&shims.names, 2);
	for (int parts = 0; parts < 16; parts++) {
		const bool has_files = parts & WITH_FILES;
		const struct isolation_spec isolation = {
			.kind = ISOLATION_LANDLOCK,
			.working = "/w",
			.scratch = "/scratch",
			.shared = &list,
			.shims = parts & WITH_SHIMS ? &shims : NULL,
			.covers = has_files ? &list : NULL,
		};
		const struct keeper_spec spec = {
			.argv = &argv,
			.environment = &list,
			.state = &process,
			.mark = has_files ? "A=1" : NULL,
			.cgroup = parts & WITH_CGROUP ? &cgroup : NULL,
			.isolation = parts & WITH_ISOLATION ? &isolation : NULL,
			.scratch = has_files ? "/scratch" : NULL,
			.extra_files = has_files ? &list : NULL,
		};

		assert_arrives(&spec);
	}
	strlist_release(&argv);
	strlist_release(&list);
	strlist_release(&shims.names);
}

/* A parcel that is cut anywhere, or goes on behind its end, is none. */
static void a_cut_parcel_is_refused(void **state)
{
	struct process_state process = { .subreaper = 0 };
	struct strlist argv = STRLIST_INIT;
	const struct isolation_spec isolation = { .working = "/w",
						  .shared = &argv };
	const struct keeper_spec spec = { .argv = &argv,
					  .environment = &argv,
					  .state = &process,
					  .isolation = &isolation,
					  .scratch = "/s" };
	struct strbuf bytes = STRBUF_INIT;
	struct keeper_parcel got;

	(void)state;
	add_items(&argv, 4);
	keeper_parcel_write(&bytes, &spec);
	strbuf_addch(&bytes, 0);
	for (size_t length = 0; length <= bytes.length; length++) {
		int result = keeper_parcel_read(&got, bytes.data, length);

		assert_true((result == 0) == (length == bytes.length - 1));
		release(&got);
	}
	strlist_release(&argv);
	strbuf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_arrives),
		cmocka_unit_test(a_cut_parcel_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
