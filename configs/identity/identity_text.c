/* Identity texts: what a repeat of a command must share with its record. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "configs/identity/identity_text.h"

#include "base/alloc.h"
#include "configs/files/escape.h"
#include "configs/identity/difference.h"
#include "configs/identity/identity_lists.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Another meaning or order of entries is another number. */
#define VERSION_LINE "autofit.identity/2\n"
/* Bytes of a text that is compared; an argv of the kernel's limit fits. */
#define ENTRIES_MAX 400000

/* What both texts have under one label of one class. */
struct group {
	const struct identity_entry *recorded, *now; /* first of each */
	size_t recorded_count, now_count;
};

struct groups {
	struct group *items;
	size_t count;
};

const char *record_grade_name(enum record_grade grade)
{
	switch (grade) {
	case RECORD_NONE:
		break;
	case RECORD_HINT:
		return "hint";
	case RECORD_NEAR:
		return "near";
	case RECORD_EXACT:
		return "exact";
	}
	return NULL;
}

void identity_begin(struct strbuf *out)
{
	strbuf_adds(out, VERSION_LINE);
}

void identity_add(struct strbuf *out, enum identity_class class,
		  const char *label, const char *value)
{
	strbuf_adds(out, class == IDENTITY_PLACE ? "place " : "part ");
	escape_add(out, label);
	strbuf_addch(out, ' ');
	escape_add(out, value);
	strbuf_addch(out, '\n');
}

/* "class label value\n" at text; the next line, or NULL when it is none. */
static const char *entry_parse(struct identity_entry *entry, const char *text)
{
	size_t length = strcspn(text, "\n");
	const char *end = text + length;
	const char *blank;

	if (*end != '\n')
		return NULL;
	entry->is_place = strncmp(text, "place ", 6) == 0;
	if (!entry->is_place && strncmp(text, "part ", 5) != 0)
		return NULL;
	text += entry->is_place ? 6 : 5;
	blank = memchr(text, ' ', (size_t)(end - text));
	if (!blank || blank == text ||
	    memchr(blank + 1, ' ', (size_t)(end - blank - 1)))
		return NULL;
	entry->label = (struct piece){ text, (size_t)(blank - text) };
	entry->value = (struct piece){ blank + 1, (size_t)(end - blank - 1) };
	return end + 1;
}

/* -EINVAL: a text of another version, or none. */
static int entries_parse(struct identity_entries *entries, const char *text)
{
	size_t capacity = 0;

	if (strncmp(text, VERSION_LINE, sizeof(VERSION_LINE) - 1) != 0)
		return -EINVAL;
	text += sizeof(VERSION_LINE) - 1;
	while (*text) {
		if (entries->count == ENTRIES_MAX)
			return -EINVAL;
		entries->items = xgrow(entries->items, entries->count,
				       &capacity, sizeof(*entries->items));
		text = entry_parse(&entries->items[entries->count], text);
		if (!text)
			return -EINVAL;
		entries->items[entries->count].order = entries->count;
		entries->count++;
	}
	return 0;
}

static int compare_keys(const struct identity_entry *a,
			const struct identity_entry *b)
{
	if (a->is_place != b->is_place)
		return a->is_place ? -1 : 1;
	return piece_compare(&a->label, &b->label);
}

/* By class and label; entries of one label stay in their order. */
static int compare_entries(const void *a, const void *b)
{
	const struct identity_entry *x = a;
	const struct identity_entry *y = b;
	int order = compare_keys(x, y);

	if (order == 0)
		order = x->order < y->order ? -1 : 1;
	return order;
}

static void entries_sort(struct identity_entries *entries)
{
	if (entries->count)
		qsort(entries->items, entries->count, sizeof(*entries->items),
		      compare_entries);
}

/* How many from the first on have the same key. */
static size_t run_of(const struct identity_entries *entries, size_t first)
{
	size_t end = first + 1;

	while (end < entries->count &&
	       compare_keys(&entries->items[first], &entries->items[end]) == 0)
		end++;
	return end - first;
}

/* Which key comes first; past its end a list has none. */
static int compare_heads(const struct identity_entries *a, size_t i,
			 const struct identity_entries *b, size_t j)
{
	if (i == a->count)
		return 1;
	if (j == b->count)
		return -1;
	return compare_keys(&a->items[i], &b->items[j]);
}

static bool group_is_equal(const struct group *group)
{
	if (group->recorded_count != group->now_count)
		return false;
	for (size_t i = 0; i < group->now_count; i++)
		if (piece_compare(&group->recorded[i].value,
				  &group->now[i].value) != 0)
			return false;
	return true;
}

/* The groups that differ, of two sorted lists. */
static void groups_find(struct groups *groups,
			const struct identity_entries *recorded,
			const struct identity_entries *now)
{
	size_t i = 0;
	size_t j = 0;

	groups->items = xcalloc(recorded->count + now->count + 1,
				sizeof(*groups->items));
	while (i < recorded->count || j < now->count) {
		struct group *group = &groups->items[groups->count];
		int order = compare_heads(recorded, i, now, j);

		*group = (struct group){ 0 };
		if (order <= 0) {
			group->recorded = &recorded->items[i];
			group->recorded_count = run_of(recorded, i);
			i += group->recorded_count;
		}
		if (order >= 0) {
			group->now = &now->items[j];
			group->now_count = run_of(now, j);
			j += group->now_count;
		}
		groups->count += !group_is_equal(group);
	}
}

static const struct identity_entry *group_entry(const struct group *group)
{
	return group->now ? group->now : group->recorded;
}

/* As they are told: what makes it a hint first, what is gone last. */
static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a;
	const struct group *y = b;
	const struct identity_entry *first = group_entry(x);
	const struct identity_entry *second = group_entry(y);

	if (first->is_place != second->is_place)
		return first->is_place ? -1 : 1;
	if (!x->now != !y->now)
		return x->now ? -1 : 1;
	return first->order < second->order ? -1 : 1;
}

static void groups_say(const struct groups *groups, struct strbuf *difference)
{
	struct difference words = { .out = difference };

	for (size_t i = 0; difference && i < groups->count; i++) {
		const struct group *group = &groups->items[i];
		struct identity_lists lists = {
			.label = group_entry(group)->label,
			.recorded = group->recorded,
			.recorded_count = group->recorded_count,
			.now = group->now,
			.now_count = group->now_count,
		};

		identity_lists_say(&lists, &words);
	}
	difference_finish(&words);
}

/* The groups that differ, as they are told; false: a text of another version.
 */
static bool identity_compare(struct groups *groups,
			     struct identity_entries lists[2],
			     const char *recorded, const char *now)
{
	if (entries_parse(&lists[0], recorded) < 0 ||
	    entries_parse(&lists[1], now) < 0)
		return false;
	entries_sort(&lists[0]);
	entries_sort(&lists[1]);
	groups_find(groups, &lists[0], &lists[1]);
	if (groups->count)
		qsort(groups->items, groups->count, sizeof(*groups->items),
		      compare_groups);
	return true;
}

static void identity_forget(struct groups *groups,
			    struct identity_entries lists[2])
{
	free(lists[0].items);
	free(lists[1].items);
	free(groups->items);
}

static void say_other_version(struct strbuf *difference)
{
	if (difference)
		strbuf_adds(difference,
			    "recorded by another version of autofit");
}

enum record_grade identity_grade(const char *recorded, const char *now,
				 struct strbuf *difference)
{
	struct identity_entries lists[2] = { { 0 } };
	struct groups groups = { 0 };
	enum record_grade grade = RECORD_HINT;

	if (strcmp(recorded, now) == 0)
		return RECORD_EXACT;
	if (!identity_compare(&groups, lists, recorded, now)) {
		say_other_version(difference);
	} else {
		/* Those of a place are the first. */
		grade = groups.count && group_entry(groups.items)->is_place
				? RECORD_HINT
				: RECORD_NEAR;
		groups_say(&groups, difference);
		if (groups.count == 0 && difference)
			strbuf_adds(difference, "the order of its parts");
	}
	identity_forget(&groups, lists);
	return grade;
}

static bool label_is_in(const struct piece *label, const char *const labels[])
{
	struct strbuf escaped = STRBUF_INIT;
	bool found = false;

	for (; *labels && !found; labels++) {
		strbuf_reset(&escaped);
		escape_add(&escaped, *labels);
		found = escaped.length == label->length &&
			memcmp(strbuf_text(&escaped), label->text,
			       label->length) == 0;
	}
	strbuf_release(&escaped);
	return found;
}

bool identity_agrees_on(const char *recorded, const char *now,
			const char *const labels[], struct strbuf *difference)
{
	struct identity_entries lists[2] = { { 0 } };
	struct groups groups = { 0 };
	bool agrees = identity_compare(&groups, lists, recorded, now);
	size_t kept = 0;

	if (!agrees)
		say_other_version(difference);
	for (size_t i = 0; i < groups.count; i++)
		if (label_is_in(&group_entry(&groups.items[i])->label, labels))
			groups.items[kept++] = groups.items[i];
	groups.count = kept;
	groups_say(&groups, difference);
	identity_forget(&groups, lists);
	return agrees && !kept;
}
