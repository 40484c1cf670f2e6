/* Lists of strings as argv and as an environment. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "base/strlist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_items(const struct strlist *list, const char *const *items)
{
	size_t count = 0;

	for (; items[count]; count++) {
		assert_true(count < list->count);
		assert_string_equal(list->items[count], items[count]);
	}
	assert_int_equal(list->count, count);
	if (list->items)
		assert_null(list->items[count]);
}

static struct strlist make_list(const char *const *items)
{
	struct strlist list = STRLIST_INIT;

	for (; *items; items++)
		strlist_add(&list, *items);
	return list;
}

static void a_list_grows_and_ends_with_null(void **state)
{
	struct strlist list = STRLIST_INIT;

	(void)state;
	assert_items(&list, (const char *[]){ NULL });
	for (size_t i = 0; i < 1000; i++) {
		strlist_addf(&list, "item %zu", i);
		assert_int_equal(list.count, i + 1);
		assert_null(list.items[i + 1]);
	}
	assert_string_equal(list.items[0], "item 0");
	assert_string_equal(list.items[999], "item 999");
	strlist_release(&list);
	assert_null(list.items);
	assert_int_equal(list.count, 0);
	strlist_release(&list);
}

static void texts_are_copied_or_taken(void **state)
{
	struct strlist list = STRLIST_INIT;
	char text[] = "before";
	char *taken = strdup("taken");

	(void)state;
	strlist_add(&list, text);
	strlist_add_all(&list, (const char *[]){ text, "" }, 2);
	memcpy(text, "after!", sizeof(text));
	strlist_take(&list, taken);
	assert_items(&list,
		     (const char *[]){ "before", "before", "", "taken", NULL });
	assert_ptr_equal(list.items[3], taken);
	strlist_release(&list);
}

static void items_are_changed_in_place(void **state)
{
	static const struct {
		const char *name;
		size_t insert_at, replace_at, remove_at;
		const char *expected[5];
	} rows[] = {
		{ "front", 0, 0, 0, { "a", "b", "c" } },
		{ "middle", 1, 1, 1, { "a", "b", "c" } },
		{ "end", 3, 3, 3, { "a", "b", "c" } },
		{ "mixed", 0, 1, 0, { "y", "b", "c" } },
		{ "apart", 3, 0, 1, { "y", "c", "x" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist list =
			make_list((const char *[]){ "a", "b", "c", NULL });

		print_message("%s\n", rows[i].name);
		strlist_insert(&list, rows[i].insert_at, "x");
		strlist_replace(&list, rows[i].replace_at, "y");
		strlist_remove(&list, rows[i].remove_at);
		assert_items(&list, rows[i].expected);
		strlist_release(&list);
	}
}

static void an_item_of_the_list_itself_may_be_given(void **state)
{
	struct strlist list = make_list((const char *[]){ "a", "b", NULL });

	(void)state;
	for (int i = 0; i < 20; i++)
		strlist_insert(&list, 0, list.items[1]);
	strlist_replace(&list, 21, list.items[21]);
	/* Each turn puts what was second in front: they alternate. */
	for (size_t i = 0; i < 22; i++)
		assert_string_equal(list.items[i], i % 2 ? "b" : "a");
	assert_int_equal(list.count, 22);
	strlist_release(&list);
}

static void items_are_found_and_lists_compared(void **state)
{
	static const struct {
		const char *name;
		const char *a[4], *b[4];
		bool equal;
	} rows[] = {
		{ "both empty", { NULL }, { NULL }, true },
		{ "same", { "x", "" }, { "x", "" }, true },
		{ "shorter", { "x" }, { "x", "" }, false },
		{ "order", { "x", "y" }, { "y", "x" }, false },
		{ "case", { "x" }, { "X" }, false },
	};
	struct strlist list =
		make_list((const char *[]){ "a", "b", "b", NULL });

	(void)state;
	assert_int_equal(strlist_find(&list, "b"), 1);
	assert_int_equal(strlist_find(&list, "c"), 3);
	strlist_release(&list);
	assert_int_equal(strlist_find(&list, "a"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist a = make_list(rows[i].a);
		struct strlist b = make_list(rows[i].b);

		print_message("%s\n", rows[i].name);
		assert_int_equal(strlist_equal(&a, &b), rows[i].equal);
		assert_int_equal(strlist_equal(&b, &a), rows[i].equal);
		strlist_release(&a);
		strlist_release(&b);
	}
}

static void a_list_is_an_environment(void **state)
{
	struct strlist list = make_list(
		(const char *[]){ "PATH=/bin", "PATHS=x", "EMPTY=", "BARE",
				  "A=1=2", "A=3", NULL });

	(void)state;
	assert_string_equal(strlist_env_get(&list, "PATH"), "/bin");
	assert_string_equal(strlist_env_get(&list, "EMPTY"), "");
	assert_string_equal(strlist_env_get(&list, "A"), "1=2");
	assert_null(strlist_env_get(&list, "BARE"));
	assert_null(strlist_env_get(&list, "PAT"));
	strlist_env_set(&list, "PATH", "/usr/bin");
	strlist_env_set(&list, "NEW", "");
	strlist_env_unset(&list, "A");
	strlist_env_unset(&list, "MISSING");
	assert_items(&list, (const char *[]){ "PATH=/usr/bin", "PATHS=x",
					      "EMPTY=", "BARE", "NEW=", NULL });
	strlist_env_set(&list, "PATH", strlist_env_get(&list, "PATH"));
	assert_string_equal(strlist_env_get(&list, "PATH"), "/usr/bin");
	strlist_env_prepend(&list, "PATH", "/a");
	strlist_env_prepend(&list, "EMPTY", "/b");
	strlist_env_prepend(&list, "LATER", "/c");
	strlist_sort(&list);
	assert_items(&list, (const char *[]){ "BARE", "EMPTY=/b", "LATER=/c",
					      "NEW=", "PATH=/a:/usr/bin",
					      "PATHS=x", NULL });
	strlist_release(&list);
	strlist_sort(&list);
	assert_null(strlist_env_get(&list, "PATH"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_grows_and_ends_with_null),
		cmocka_unit_test(texts_are_copied_or_taken),
		cmocka_unit_test(items_are_changed_in_place),
		cmocka_unit_test(an_item_of_the_list_itself_may_be_given),
		cmocka_unit_test(items_are_found_and_lists_compared),
		cmocka_unit_test(a_list_is_an_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
