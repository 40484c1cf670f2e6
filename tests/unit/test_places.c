/* Shared and guarded places: the deeper path wins. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/isolation/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *name_of(const struct place *place)
{
	if (!place)
		return "none";
	return place->shared ? "shared" : "guarded";
}

static void the_deeper_path_wins(void **unused)
{
	static const char *const shared[] = { "/w/out", "/home/me/.cache",
					      "/both", "/home/me/.cache",
					      "/w/out/keep/cache" };
	static const char *const guarded[] = { "/w", "/w/out/keep", "/both",
					       "/home/me/.cache/run" };
	static const struct {
		const char *path, *at, *above;
		bool guarded_below;
	} rows[] = {
		{ "/", "none", "none", true },
		{ "/wood", "none", "none", false },
		{ "/w", "guarded", "none", true },
		{ "/w/a", "guarded", "guarded", false },
		{ "/w/out", "shared", "guarded", true },
		{ "/w/outer", "guarded", "guarded", false },
		{ "/w/out/a", "shared", "shared", false },
		{ "/w/out/keep", "guarded", "shared", false },
		{ "/w/out/keep/cache", "shared", "guarded", false },
		{ "/both", "shared", "none", false },
		{ "/both/a", "shared", "shared", false },
		{ "/home/me", "none", "none", true },
		{ "/home/me/.cache/x", "shared", "shared", false },
		{ "/home/me/.cache/run", "guarded", "shared", false },
	};
	struct strlist to_share = STRLIST_INIT, to_guard = STRLIST_INIT;
	struct places places;

	(void)unused;
	strlist_add_all(&to_share, shared, 5);
	strlist_add_all(&to_guard, guarded, 4);
	places_make(&places, &to_share, &to_guard);
	assert_int_equal(places.count, 7);
	for (size_t i = 1; i < places.count; i++)
		assert_ptr_not_equal(
			places_at(&places, places.items[i - 1].path),
			&places.items[i]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_string_equal(name_of(places_at(&places, rows[i].path)),
				    rows[i].at);
		assert_string_equal(
			name_of(places_above(&places, rows[i].path)),
			rows[i].above);
		assert_int_equal(
			places_has_guarded_below(&places, rows[i].path),
			rows[i].guarded_below);
	}
	places_release(&places);
	strlist_release(&to_share);
	strlist_release(&to_guard);
}

static void nothing_listed_is_no_place(void **unused)
{
	struct places places;

	(void)unused;
	places_make(&places, NULL, NULL);
	assert_null(places_at(&places, "/a"));
	assert_false(places_has_guarded_below(&places, "/"));
	places_release(&places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_deeper_path_wins),
		cmocka_unit_test(nothing_listed_is_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
