/* The words for two lists of values under one label of an identity. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/identity/identity_lists.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/files/escape.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Longer lists that differ are only said to differ. */
#define UNITS_MAX 512
#define LABEL_SHOWN_MAX 60
#define NAME_SHOWN_MAX 40
#define VALUE_SHOWN_MAX 40
#define FILE_PREFIX "file%20"
#define FILE_PREFIX_LENGTH (sizeof(FILE_PREFIX) - 1)

#define DIGITS_MAX 20
/* A blank of an identity's text is escaped. */
#define BYTES_END "%20B"

static const struct {
	const char *label, *value, *words;
} answers[] = {
	{ "effective%20batch%20may%20grow", "yes",
	  "tuned without --grow, now with" },
	{ "effective%20batch%20may%20grow", "no",
	  "tuned with --grow, now without" },
	{ "shared%20with%20others", "yes", "tuned without --shared, now with" },
	{ "shared%20with%20others", "no", "tuned with --shared, now without" },
};

/* An option with its value, or a value alone. */
struct identity_lists_unit {
	struct piece name;  /* empty: a value alone */
	struct piece value; /* text NULL: an option alone */
	char between;       /* '=' or ' ' */
	bool is_matched;
};

static bool piece_is(const struct piece *piece, const char *text)
{
	return piece->length == strlen(text) &&
	       memcmp(piece->text, text, piece->length) == 0;
}

/* "tuned with --grow, now without" for a label that now has this value; NULL:
 * label and values say it as they are. */
static const char *identity_words_of(const struct piece *label,
				     const struct piece *now)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (piece_is(label, answers[i].label) &&
		    piece_is(now, answers[i].value))
			return answers[i].words;
	return NULL;
}

/* What has no effective batch that is known is recorded with 0. */
static struct identity_lists_unit
unit_in_words(const struct piece *label, const struct identity_lists_unit *unit)
{
	static const char unknown[] = "not%20known";
	struct identity_lists_unit result = *unit;

	if (piece_is(label, "effective%20batch") && piece_is(&unit->value, "0"))
		result.value = (struct piece){ unknown, strlen(unknown) };
	return result;
}

/* "440401920%20B" */
static bool piece_bytes(const struct piece *piece, uint64_t *bytes)
{
	char digits[DIGITS_MAX + 1];
	size_t length = 0;

	while (length < piece->length && length < DIGITS_MAX &&
	       piece->text[length] >= '0' && piece->text[length] <= '9') {
		digits[length] = piece->text[length];
		length++;
	}
	digits[length] = '\0';
	if (length == 0 || piece->length != length + strlen(BYTES_END) ||
	    memcmp(piece->text + length, BYTES_END, strlen(BYTES_END)) != 0)
		return false;
	errno = 0;
	*bytes = strtoull(digits, NULL, 10);
	return errno == 0;
}

/* "4.00 GiB" of "4294967296 B"; false: it is no number of bytes. */
static bool identity_words_bytes(const struct piece *piece,
				 char text[BYTES_TEXT_MAX])
{
	uint64_t bytes;

	if (!piece_bytes(piece, &bytes))
		return false;
	(void)bytes_format(text, bytes);
	return true;
}

struct units {
	struct identity_lists_unit items[UNITS_MAX];
	size_t count;
};

/* What is left of both lists without their common begin and end. */
struct middle {
	const struct identity_entry *recorded, *now;
	size_t recorded_count, now_count;
};

int piece_compare(const struct piece *a, const struct piece *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = 0;

	/* One that is not there has no text, and no length. */
	if (a->text && b->text)
		order = memcmp(a->text, b->text, shorter);
	if (order == 0 && a->length != b->length)
		order = a->length < b->length ? -1 : 1;
	return order;
}

static bool piece_is_equal(const struct piece *a, const struct piece *b)
{
	return !a->text == !b->text && piece_compare(a, b) == 0;
}

static void piece_show(struct strbuf *out, const struct piece *piece,
		       size_t max_bytes, enum plain_end end)
{
	char *escaped = xstrndup(piece->text, piece->length);
	struct strbuf text = STRBUF_INIT;

	/* A broken escape ends what is shown. */
	(void)unescape_add(&text, escaped);
	if (text.length == 0)
		strbuf_adds(out, "''");
	plain_add(out, strbuf_text(&text), max_bytes, end);
	strbuf_release(&text);
	free(escaped);
}

/* "argument", or what ends so: its values are words of a command line. */
static bool label_is_arguments(const struct piece *label)
{
	static const char word[] = "argument";
	const size_t length = sizeof(word) - 1;

	return label->length >= length &&
	       memcmp(label->text + label->length - length, word, length) == 0;
}

static bool label_is_file(const struct piece *label)
{
	return label->length > FILE_PREFIX_LENGTH &&
	       memcmp(label->text, FILE_PREFIX, FILE_PREFIX_LENGTH) == 0;
}

/* -1 and -.5 are values. */
static bool identity_lists_is_option(const struct piece *word)
{
	return word->length > 1 && word->text[0] == '-' &&
	       !isdigit((unsigned char)word->text[1]) && word->text[1] != '.';
}

static bool is_joined(const struct piece *word)
{
	return word->length > 1 &&
	       memchr(word->text + 1, '=', word->length - 1);
}

/* An option without its value, as far as can be seen. */
static bool is_open_option(const struct piece *word)
{
	return identity_lists_is_option(word) && !is_joined(word);
}

static struct identity_lists_unit unit_joined(const struct piece *word)
{
	const char *equals = memchr(word->text + 1, '=', word->length - 1);
	size_t length = (size_t)(equals - word->text);

	return (struct identity_lists_unit){
		.name = { word->text, length },
		.value = { equals + 1, word->length - length - 1 },
		.between = '=',
	};
}

static void units_split(struct units *units,
			const struct identity_entry *entries, size_t count)
{
	units->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct identity_lists_unit *unit =
			&units->items[units->count++];
		const struct piece *word = &entries[i].value;

		*unit = (struct identity_lists_unit){ .value = *word };
		if (is_joined(word)) {
			*unit = unit_joined(word);
		} else if (identity_lists_is_option(word)) {
			*unit = (struct identity_lists_unit){ .name = *word,
							      .between = ' ' };
			if (i + 1 < count &&
			    !identity_lists_is_option(&entries[i + 1].value))
				unit->value = entries[++i].value;
		}
	}
}

static void units_alone(struct units *units,
			const struct identity_entry *entries, size_t count)
{
	units->count = 0;
	for (size_t i = 0; i < count; i++)
		units->items[units->count++] = (struct identity_lists_unit){
			.value = entries[i].value
		};
}

static bool entries_are_equal(const struct identity_entry *a,
			      const struct identity_entry *b)
{
	return piece_is_equal(&a->value, &b->value);
}

static struct middle middle_of(const struct identity_lists *lists)
{
	struct middle middle = { lists->recorded, lists->now,
				 lists->recorded_count, lists->now_count };

	while (middle.recorded_count && middle.now_count &&
	       entries_are_equal(middle.recorded, middle.now)) {
		middle.recorded++;
		middle.now++;
		middle.recorded_count--;
		middle.now_count--;
	}
	while (middle.recorded_count && middle.now_count &&
	       entries_are_equal(&middle.recorded[middle.recorded_count - 1],
				 &middle.now[middle.now_count - 1])) {
		middle.recorded_count--;
		middle.now_count--;
	}
	return middle;
}

/* Begins with a word that may belong to the option before it. */
static bool begins_with_value(const struct identity_entry *entries,
			      size_t count)
{
	return count && !identity_lists_is_option(&entries->value);
}

/* A value is told with its option, though only one of them differs. */
static void middle_widen(struct middle *middle,
			 const struct identity_lists *lists)
{
	const struct identity_entry *end;
	const struct identity_entry *after;

	if (!lists->now || !lists->recorded)
		return;
	end = lists->now + lists->now_count;
	after = middle->now + middle->now_count;
	if (middle->now > lists->now &&
	    is_open_option(&middle->now[-1].value) &&
	    (begins_with_value(middle->now, middle->now_count) ||
	     begins_with_value(middle->recorded, middle->recorded_count))) {
		middle->recorded--;
		middle->now--;
		middle->recorded_count++;
		middle->now_count++;
	}
	if (middle->now_count && middle->recorded_count && after < end &&
	    !identity_lists_is_option(&after->value) &&
	    is_open_option(&after[-1].value)) {
		middle->recorded_count++;
		middle->now_count++;
	}
}

/* The first recorded unit of that name that is still free, or NULL. */
static struct identity_lists_unit *
identity_lists_unit_find(struct units *units,
			 const struct identity_lists_unit *wanted,
			 bool same_value)
{
	for (size_t i = 0; i < units->count; i++) {
		struct identity_lists_unit *unit = &units->items[i];

		if (!unit->is_matched &&
		    piece_compare(&unit->name, &wanted->name) == 0 &&
		    (!same_value ||
		     piece_is_equal(&unit->value, &wanted->value)))
			return unit;
	}
	return NULL;
}

static void match_equal(struct units *recorded, struct units *now)
{
	for (size_t i = 0; i < now->count; i++) {
		struct identity_lists_unit *same = identity_lists_unit_find(
			recorded, &now->items[i], true);

		if (same)
			same->is_matched = now->items[i].is_matched = true;
	}
}

static void show_label(struct strbuf *out, const struct piece *label)
{
	piece_show(out, label, LABEL_SHOWN_MAX, PLAIN_HEAD);
}

static void show_unit(struct strbuf *out,
		      const struct identity_lists_unit *unit)
{
	if (unit->name.length)
		piece_show(out, &unit->name, NAME_SHOWN_MAX, PLAIN_HEAD);
	if (unit->name.length && unit->value.text)
		strbuf_addch(out, unit->between);
	if (unit->value.text)
		piece_show(out, &unit->value, VALUE_SHOWN_MAX, PLAIN_HEAD);
}

/* "4.00 GiB, was 420 MiB"; false, and nothing, where neither is a number of
 * bytes or both would look the same. */
static bool show_bytes(struct strbuf *out, const struct piece *now,
		       const struct piece *was)
{
	const struct piece *const pieces[] = { now, was };
	char texts[2][BYTES_TEXT_MAX] = { "", "" };

	for (size_t i = 0; i < 2; i++)
		(void)identity_words_bytes(pieces[i], texts[i]);
	if (strcmp(texts[0], texts[1]) == 0)
		return false;
	for (size_t i = 0; i < 2; i++) {
		strbuf_adds(out, i ? ", was " : "");
		if (*texts[i])
			strbuf_adds(out, texts[i]);
		else
			piece_show(out, pieces[i], VALUE_SHOWN_MAX, PLAIN_HEAD);
	}
	return true;
}

/* "label unit words" */
static void say_unit(struct difference *difference, const struct piece *label,
		     const struct identity_lists_unit *unit, const char *words)
{
	struct strbuf *out = difference_next(difference);

	if (!out)
		return;
	show_label(out, label);
	strbuf_addch(out, ' ');
	show_unit(out, unit);
	strbuf_adds(out, words);
}

static void say_changed(struct difference *difference,
			const struct piece *label,
			const struct identity_lists_unit *unit_now,
			const struct identity_lists_unit *unit_was)
{
	struct strbuf *out = difference_next(difference);
	const struct identity_lists_unit now = unit_in_words(label, unit_now);
	const struct identity_lists_unit was = unit_in_words(label, unit_was);
	const char *words = identity_words_of(label, &now.value);

	if (!out)
		return;
	if (words) {
		strbuf_adds(out, words);
		return;
	}
	show_label(out, label);
	strbuf_addch(out, ' ');
	if (!now.name.length && now.value.text && was.value.text &&
	    show_bytes(out, &now.value, &was.value))
		return;
	show_unit(out, &now);
	strbuf_adds(out, ", was ");
	if (now.value.text && was.value.text)
		piece_show(out, &was.value, VALUE_SHOWN_MAX, PLAIN_HEAD);
	else
		show_unit(out, &was);
}

static void say_label(struct difference *difference, const struct piece *label,
		      const char *words)
{
	struct strbuf *out = difference_next(difference);

	if (!out)
		return;
	show_label(out, label);
	strbuf_adds(out, words);
}

static void say_units(struct difference *difference, const struct piece *label,
		      struct units *recorded, const struct units *now)
{
	size_t before = difference->count;

	for (size_t i = 0; i < now->count; i++) {
		const struct identity_lists_unit *unit = &now->items[i];
		struct identity_lists_unit *was;

		if (unit->is_matched)
			continue;
		was = identity_lists_unit_find(recorded, unit, false);
		if (was)
			say_changed(difference, label, unit, was);
		else
			say_unit(difference, label, unit, " is new");
		if (was)
			was->is_matched = true;
	}
	for (size_t i = 0; i < recorded->count; i++)
		if (!recorded->items[i].is_matched)
			say_unit(difference, label, &recorded->items[i],
				 " is gone");
	if (difference->count == before)
		say_label(difference, label, " order changed");
}

/* A file's value is a stamp, which tells nobody anything. */
static void say_file(const struct identity_lists *lists,
		     struct difference *difference)
{
	static const char gone[] = "gone";
	struct piece path = { lists->label.text + FILE_PREFIX_LENGTH,
			      lists->label.length - FILE_PREFIX_LENGTH };
	struct piece absent = { gone, sizeof(gone) - 1 };
	struct strbuf *out = difference_next(difference);
	const char *words = " changed";

	if (!out)
		return;
	if (!lists->now)
		words = " is no longer used";
	else if (piece_is_equal(&lists->now->value, &absent))
		words = " is gone";
	else if (!lists->recorded ||
		 piece_is_equal(&lists->recorded->value, &absent))
		words = " is new";
	piece_show(out, &path, LABEL_SHOWN_MAX, PLAIN_TAIL);
	strbuf_adds(out, words);
}

void identity_lists_say(const struct identity_lists *lists,
			struct difference *difference)
{
	struct middle middle = middle_of(lists);
	bool arguments = label_is_arguments(&lists->label);
	struct units *recorded;
	struct units *now;

	if (label_is_file(&lists->label)) {
		say_file(lists, difference);
		return;
	}
	if (arguments)
		middle_widen(&middle, lists);
	if (middle.recorded_count > UNITS_MAX || middle.now_count > UNITS_MAX) {
		say_label(difference, &lists->label, " list changed");
		return;
	}
	recorded = xcalloc(1, sizeof(*recorded));
	now = xcalloc(1, sizeof(*now));
	if (arguments) {
		units_split(recorded, middle.recorded, middle.recorded_count);
		units_split(now, middle.now, middle.now_count);
	} else {
		units_alone(recorded, middle.recorded, middle.recorded_count);
		units_alone(now, middle.now, middle.now_count);
	}
	match_equal(recorded, now);
	say_units(difference, &lists->label, recorded, now);
	free(recorded);
	free(now);
}
