/* cuGetProcAddress: hands out wrappers in place of the driver's functions. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/device.h"
#include "probes/preload/ledger/ledger.h"
#include "probes/preload/real.h"
#include "probes/preload/text.h"

/* One question of the program, and how to ask another one. */
struct question {
	const char *base;
	int version;
	uint64_t flags;
	fn_cuGetProcAddress *first;
	fn_cuGetProcAddress_v2 *second;
};

static const char *const renames[][2] = {
#define HOOK_AS_PAIR(base, other) { base, other },
	HOOK_RENAMES(HOOK_AS_PAIR)
#undef HOOK_AS_PAIR
};

static const char *other_name(const char *base)
{
	size_t i;

	for (i = 0; i < sizeof(renames) / sizeof(*renames); i++) {
		if (text_is(renames[i][0], base))
			return renames[i][1];
	}
	return NULL;
}

/* What the driver has for a base name at a version that we know. */
static void *answer_at(const struct question *question, const char *base,
		       int version)
{
	void *found = NULL;
	cu_result result;

	if (question->second)
		result = question->second(base, &found, version,
					  question->flags, NULL);
	else
		result =
			question->first(base, &found, version, question->flags);
	return result == CU_SUCCESS ? found : NULL;
}

static enum hook hook_if_same(const struct question *question, const char *base,
			      void *found)
{
	int version = question->version < HOOK_TABLE_VERSION
			      ? question->version
			      : HOOK_TABLE_VERSION;
	enum hook hook = hook_of_base(base, version, question->flags);

	if (hook != HOOK_COUNT &&
	    answer_at(question, base, hook_row(hook)->version) == found)
		return hook;
	return HOOK_COUNT;
}

/*
 * A driver newer than the table may answer with a function whose type we do
 * not know, and headers give a name to another function. There the answer must
 * be the one that it also gives for a version of the table.
 */
static enum hook hook_meant(const struct question *question, void *found)
{
	const char *other = other_name(question->base);
	enum hook hook;

	if (question->version <= HOOK_TABLE_VERSION && !other)
		return hook_of_base(question->base, question->version,
				    question->flags);
	hook = hook_if_same(question, question->base, found);
	if (hook == HOOK_COUNT && other)
		hook = hook_if_same(question, other, found);
	return hook;
}

static void replace(const struct question *question, void **found,
		    bool is_counted)
{
	enum hook hook = hook_meant(question, *found);

	if (hook != HOOK_COUNT) {
		real_note(hook, *found);
		*found = real_wrapper(hook);
		return;
	}
	/* One that is newer than the table. */
	device_note_name(question->base);
	if (is_counted &&
	    hook_of_base(question->base, HOOK_TABLE_VERSION, question->flags) !=
		    HOOK_COUNT &&
	    question->version > HOOK_TABLE_VERSION) {
		ledger_flag(PRELOAD_CROWDED);
	}
}

WRAPPER cu_result cuGetProcAddress(const char *symbol, void **pfn,
				   int driver_version, uint64_t flags)
{
	fn_cuGetProcAddress *real = REAL(cuGetProcAddress);
	struct question question = { symbol, driver_version, flags, real,
				     NULL };
	bool is_counted;
	cu_result result;

	if (!real)
		return CU_NOT_FOUND;
	is_counted = call_begin();
	result = real(symbol, pfn, driver_version, flags);
	if (result == CU_SUCCESS && symbol && pfn && *pfn && hooks_on())
		replace(&question, pfn, is_counted);
	if (is_counted)
		call_end();
	return result;
}

WRAPPER cu_result cuGetProcAddress_v2(const char *symbol, void **pfn,
				      int driver_version, uint64_t flags,
				      unsigned int *symbol_found)
{
	fn_cuGetProcAddress_v2 *real = REAL(cuGetProcAddress_v2);
	struct question question = { symbol, driver_version, flags, NULL,
				     real };
	bool is_counted;
	cu_result result;

	if (!real)
		return CU_NOT_FOUND;
	is_counted = call_begin();
	result = real(symbol, pfn, driver_version, flags, symbol_found);
	if (result == CU_SUCCESS && symbol && pfn && *pfn && hooks_on())
		replace(&question, pfn, is_counted);
	if (is_counted)
		call_end();
	return result;
}
