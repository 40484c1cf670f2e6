/* Files that were read, and those laid over them. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/text/named_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void add(struct named_files *texts, const char *path, const char *text)
{
	struct strbuf buf = STRBUF_INIT;

	if (text)
		strbuf_adds(&buf, text);
	named_files_add(texts, path, text ? &buf : NULL, text ? 0 : ENOENT);
	strbuf_release(&buf);
}

static void assert_text(struct named_files *texts, const char *path,
			const char *text)
{
	const struct text_file *file = named_files_get(texts, path);

	assert_non_null(file);
	assert_null(texts->wanted);
	assert_string_equal(strbuf_text(&file->text), text);
}

static void what_is_not_there_is_wanted(void **state)
{
	struct named_files texts = TEXTS_INIT;

	(void)state;
	assert_null(named_files_get(&texts, "a.yaml"));
	assert_string_equal(texts.wanted, "a.yaml");
	assert_null(named_files_get(&texts, "b.yaml"));
	assert_string_equal(texts.wanted, "a.yaml");
	add(&texts, "a.yaml", NULL);
	assert_text(&texts, "a.yaml", "");
	assert_int_equal(named_files_get(&texts, "a.yaml")->error, ENOENT);
	named_files_release(&texts);
}

static void more_than_fit_are_not_asked_for(void **state)
{
	struct named_files texts = TEXTS_INIT;
	char path[16];

	(void)state;
	for (int i = 0; i <= TEXTS_MAX; i++) {
		(void)snprintf(path, sizeof(path), "%d.yaml", i);
		add(&texts, path, "x");
	}
	assert_int_equal(texts.count, TEXTS_MAX);
	assert_null(named_files_get(&texts, path));
	assert_null(texts.wanted);
	named_files_release(&texts);
}

static void the_upper_layer_comes_first(void **state)
{
	struct named_files below = TEXTS_INIT;
	struct named_files above = { .beneath = &below };

	(void)state;
	add(&below, "a.yaml", "old");
	add(&below, "b.yaml", "kept");
	add(&above, "a.yaml", "new");
	assert_text(&above, "a.yaml", "new");
	assert_text(&above, "b.yaml", "kept");
	assert_text(&below, "a.yaml", "old");
	assert_null(named_files_get(&above, "c.yaml"));
	assert_string_equal(above.wanted, "c.yaml");
	assert_null(below.wanted);
	/* The very same bytes: who has read them need not read them again. */
	assert_ptr_equal(named_files_get(&above, "b.yaml"),
			 named_files_get(&below, "b.yaml"));
	named_files_release(&above);
	named_files_release(&below);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_there_is_wanted),
		cmocka_unit_test(more_than_fit_are_not_asked_for),
		cmocka_unit_test(the_upper_layer_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
