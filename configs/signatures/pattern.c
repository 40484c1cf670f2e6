/* One PCRE2 pattern under limits, so that no text makes it run for long. */
/* SPDX-License-Identifier: MIT */
#include "configs/signatures/pattern.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/*
 * Per start in the text. The patterns shipped need a few hundred at most; a
 * runaway one is stopped after about 50 microseconds.
 */
#define MATCH_LIMIT 10000
#define DEPTH_LIMIT 1000
#define HEAP_LIMIT_KIB 1024

struct pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	uint32_t group_count;
};

static int compile(struct pattern *pattern, const char *text, struct error *err)
{
	PCRE2_UCHAR reason[120];
	PCRE2_SIZE place = 0;
	int code = 0;

	pattern->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				      PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
					      PCRE2_NEVER_UTF | PCRE2_NEVER_UCP,
				      &code, &place, NULL);
	if (pattern->code)
		return 0;
	if (pcre2_get_error_message(code, reason, sizeof(reason)) < 0)
		reason[0] = '\0';
	return error_set(err, -EINVAL,
			 "pattern \"%s\" is wrong at byte %zu: %s", text,
			 (size_t)place + 1, (const char *)reason);
}

int pattern_make(struct pattern **pattern, const char *text, struct error *err)
{
	struct pattern *made = xcalloc(1, sizeof(*made));
	int result;

	*pattern = NULL;
	result = compile(made, text, err);
	if (result < 0) {
		pattern_free(made);
		return result;
	}
	made->data = pcre2_match_data_create_from_pattern(made->code, NULL);
	made->context = pcre2_match_context_create(NULL);
	if (!made->data || !made->context) {
		pattern_free(made);
		return error_set(err, -ENOMEM, "no memory for a pattern");
	}
	/* These two cannot fail; without JIT the interpreter does it. */
	(void)pcre2_set_match_limit(made->context, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(made->context, DEPTH_LIMIT);
	(void)pcre2_set_heap_limit(made->context, HEAP_LIMIT_KIB);
	(void)pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE);
	(void)pcre2_pattern_info(made->code, PCRE2_INFO_CAPTURECOUNT,
				 &made->group_count);
	*pattern = made;
	return 0;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->context);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	free(pattern);
}

int pattern_group(const struct pattern *pattern, const char *name)
{
	int number = pcre2_substring_number_from_name(pattern->code,
						      (PCRE2_SPTR)name);

	return number > 0 ? number : -1;
}

size_t pattern_group_count(const struct pattern *pattern)
{
	return pattern->group_count;
}

bool pattern_match(const struct pattern *pattern,
		   const struct pattern_window *window, int group,
		   struct pattern_span *span)
{
	const PCRE2_SIZE *places;
	int count =
		pcre2_match(pattern->code, (PCRE2_SPTR)window->text, window->to,
			    window->from, window->cut ? PCRE2_NOTEOL : 0,
			    pattern->data, pattern->context);

	if (count <= group)
		return false;
	places = pcre2_get_ovector_pointer(pattern->data) + 2 * (size_t)group;
	if (places[0] == PCRE2_UNSET || places[0] > places[1])
		return false;
	if (span) {
		span->from = places[0];
		span->to = places[1];
	}
	return true;
}

/* Stands for what is not one certain byte; no literal has it. */
#define UNCERTAIN '\1'

/* Past a [class], whose first ']' may be a member. */
static const char *skip_class(const char *text)
{
	text++;
	if (*text == '^')
		text++;
	if (*text == ']')
		text++;
	while (*text && *text != ']')
		text += text[0] == '\\' && text[1] ? 2 : 1;
	return *text ? text + 1 : text;
}

/* Past a (group), whatever is nested in it. */
static const char *skip_group(const char *text)
{
	int depth = 0;

	while (*text) {
		if (*text == '[') {
			text = skip_class(text);
			continue;
		}
		if (text[0] == '\\' && text[1])
			text++;
		else if (*text == '(')
			depth++;
		else if (*text == ')' && --depth == 0)
			return text + 1;
		text++;
	}
	return text;
}

/* A quantifier makes the byte before it uncertain. */
static const char *take_quantifier(const char *text, struct strbuf *plain)
{
	if (*text != '+' && plain->length > 0)
		plain->data[plain->length - 1] = UNCERTAIN;
	strbuf_addch(plain, UNCERTAIN);
	if (*text == '{')
		while (*text && *text != '}')
			text++;
	return *text ? text + 1 : text;
}

/* One piece of the pattern at text to plain; returns what comes next. */
static const char *take_piece(const char *text, struct strbuf *plain)
{
	switch (*text) {
	case '[':
		strbuf_addch(plain, UNCERTAIN);
		return skip_class(text);
	case '(':
		strbuf_addch(plain, UNCERTAIN);
		return skip_group(text);
	case '*':
	case '+':
	case '?':
	case '{':
		return take_quantifier(text, plain);
	case '.':
	case '^':
	case '$':
		strbuf_addch(plain, UNCERTAIN);
		return text + 1;
	case '\\':
		if (text[1] == '\0')
			return text + 1;
		strbuf_addch(plain, isalnum((unsigned char)text[1]) ? UNCERTAIN
								    : text[1]);
		return text + 2;
	default:
		strbuf_addch(plain, *text);
		return text + 1;
	}
}

static bool has_one(const struct strbuf *plain, const struct strlist *literals)
{
	for (size_t i = 0; i < literals->count; i++)
		if (strstr(strbuf_text(plain), literals->items[i]))
			return true;
	return false;
}

/* Inline options such as (?i) and \\Q change what the bytes after them mean. */
static bool changes_meaning(const char *text)
{
	for (; *text; text++) {
		if (text[0] == '\\') {
			if (text[1] == 'Q')
				return true;
			if (text[1])
				text++;
		} else if (text[0] == '(' && text[1] == '?' &&
			   !strchr(":=!<>|P", text[2])) {
			return true;
		}
	}
	return false;
}

bool pattern_needs(const char *text, const struct strlist *literals)
{
	struct strbuf plain = STRBUF_INIT;
	bool needs = !changes_meaning(text);

	while (needs && *text) {
		if (*text == '|') {
			needs = has_one(&plain, literals);
			strbuf_reset(&plain);
			text++;
		} else {
			text = take_piece(text, &plain);
		}
	}
	needs = needs && has_one(&plain, literals);
	strbuf_release(&plain);
	return needs;
}
