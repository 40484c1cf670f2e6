/* The ways in which a script counts the devices of the machine. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/device_count.h"

#include "base/strbuf.h"

#include <string.h>

/* Longer ones say something else. */
#define LENGTH_MAX 200

/* How they begin and end, without blanks and quotes. */
static const char *const counts[][2] = {
	{ "nvidia-smi-L", "|wc-l" },
	{ "nvidia-smi--list-gpus", "|wc-l" },
	{ "nvidia-smi--query-gpu=", "--format=csv,noheader|wc-l" },
	{ "python-cimporttorch;print(torch.cuda.device_count())", "" },
	{ "python3-cimporttorch;print(torch.cuda.device_count())", "" },
};

/* Both ends of it, and between them no other program. */
static bool is_between(const char *text, const char *begin, const char *end)
{
	size_t length = strlen(text), first = strlen(begin), last = strlen(end);

	return length >= first + last && strncmp(text, begin, first) == 0 &&
	       strcmp(text + length - last, end) == 0 &&
	       !memchr(text + first, '|', length - first - last);
}

/* Of $(a b) and `a b`: "ab". */
static void add_bare(struct strbuf *out, const char *text, size_t length)
{
	static const char silent[] = "2>/dev/null";
	size_t marks = *text == '`' ? 1 : 2;

	for (size_t i = marks; i + 1 < length; i++) {
		if (length - i > strlen(silent) &&
		    memcmp(text + i, silent, strlen(silent)) == 0)
			i += strlen(silent) - 1;
		else if (!strchr(" \t\n\"'", text[i]))
			strbuf_add(out, text + i, 1);
	}
}

bool text_counts_list(const char *text, size_t length, struct span *name)
{
	struct strbuf bare = STRBUF_INIT, expected = STRBUF_INIT;
	const char *dollar;
	bool found, has_brace;

	if (length < 3 || length > LENGTH_MAX || memchr(text, '\0', length))
		return false;
	dollar = memchr(text + 1, '$', length - 1);
	if (!dollar)
		return false;
	has_brace = dollar[1] == '{';
	name->at = dollar + 1 + has_brace;
	name->length = strspn(name->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"abcdefghijklmnopqrstuvwxyz"
					"0123456789_");
	add_bare(&bare, text, length);
	strbuf_addf(&expected, "echo$%s%.*s%s|awk-F,{printNF}",
		    has_brace ? "{" : "", (int)name->length, name->at,
		    has_brace ? "}" : "");
	found = name->length &&
		strcmp(strbuf_text(&bare), strbuf_text(&expected)) == 0;
	strbuf_release(&bare);
	strbuf_release(&expected);
	return found;
}

bool text_counts_devices(const char *text, size_t length)
{
	struct strbuf bare = STRBUF_INIT;
	bool found = false;

	if (length < 3 || length > LENGTH_MAX || memchr(text, '\0', length))
		return false;
	add_bare(&bare, text, length);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		found |= is_between(strbuf_text(&bare), counts[i][0],
				    counts[i][1]);
	strbuf_release(&bare);
	return found;
}
