/* What users call a GPU, held against what its driver calls it. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/gpu_names.h"

#include "configs/models/gpus.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* A piece of a name, not terminated. */
struct name_word {
	const char *text;
	size_t length;
};

bool gpu_name_equals(const char *a, const char *b)
{
	for (;;) {
		while (*a && !isalnum((unsigned char)*a))
			a++;
		while (*b && !isalnum((unsigned char)*b))
			b++;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

/* The length of a word at the start that says nothing of the memory. */
static size_t idle_length(struct name_word text)
{
	static const char *const words[] = {
		"nvidia", "geforce",   "rtx",  "gtx",  "tesla",
		"quadro", "amd",       "gpu",  "pcie", "instinct",
		"sxm2",   "sxm4",      "sxm6", "ac",   "generation",
		"gcd",    "blackwell", "hbm3", "per",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if (length <= text.length &&
		    strncasecmp(words[i], text.text, length) == 0)
			return length;
	}
	return 0;
}

/* The next run of letters and digits; false: there is none. */
static bool name_next_word(const char **at, struct name_word *word)
{
	while (**at && !isalnum((unsigned char)**at))
		++*at;
	word->text = *at;
	while (isalnum((unsigned char)**at))
		++*at;
	word->length = (size_t)(*at - word->text);
	return word->length > 0;
}

bool gpu_name_fold(char folded[GPU_ASKED_MAX + 1], const char *name)
{
	size_t length = 0;

	for (; *name; name++) {
		if (!isalnum((unsigned char)*name))
			continue;
		if (length == GPU_ASKED_MAX)
			return false;
		folded[length++] = (char)tolower((unsigned char)*name);
	}
	folded[length] = '\0';
	return length > 0;
}

/* Places of asked that are reached when word stands at one of places. */
static uint64_t places_behind(const char *asked, uint64_t places,
			      struct name_word word)
{
	size_t length = strlen(asked);
	uint64_t reached = 0;

	for (size_t i = 0; i + word.length <= length; i++)
		if (places >> i & 1 &&
		    strncasecmp(asked + i, word.text, word.length) == 0)
			reached |= UINT64_C(1) << (i + word.length);
	return reached;
}

/* Where asked may begin: behind its own idle words, which name may lack. */
static uint64_t beginnings(const char *asked)
{
	size_t length = strlen(asked);
	uint64_t places = 1;

	for (size_t i = 0; i < length; i++) {
		struct name_word rest = { asked + i, length - i };
		size_t idle = places >> i & 1 ? idle_length(rest) : 0;

		if (idle && idle < rest.length)
			places |= UINT64_C(1) << (i + idle);
	}
	return places;
}

enum gpu_name_match gpu_name_match(const char *asked, const char *name)
{
	uint64_t part = beginnings(asked);
	uint64_t whole = part;
	struct name_word word;

	assert(strlen(asked) <= GPU_ASKED_MAX);
	while (name_next_word(&name, &word)) {
		uint64_t kept = idle_length(word) == word.length ? whole : 0;

		whole = kept | places_behind(asked, whole, word);
		part |= places_behind(asked, part, word);
	}
	if (whole >> strlen(asked) & 1)
		return GPU_NAME_WHOLE;
	return part >> strlen(asked) & 1 ? GPU_NAME_PART : GPU_NAME_OTHER;
}

bool gpu_name_fold_core(char folded[GPU_ASKED_MAX + 1], const char *name)
{
	char core[GPU_MODEL_NAME_MAX];
	size_t used = 0;
	struct name_word word;

	while (name_next_word(&name, &word)) {
		size_t idle;

		while ((idle = idle_length(word)) != 0) {
			word.text += idle;
			word.length -= idle;
		}
		if (used + word.length >= sizeof(core))
			return false;
		memcpy(core + used, word.text, word.length);
		used += word.length;
	}
	core[used] = '\0';
	return gpu_name_fold(folded, core);
}

/* The longest run of name that asked has too, anywhere in it or at its start.
 */
static size_t common_run(const char *asked, const char *name, bool at_start)
{
	size_t best = 0;

	for (; *name; name++)
		for (const char *from = asked; *from; from++) {
			size_t length = 0;

			while (from[length] && from[length] == name[length])
				length++;
			best = length > best ? length : best;
			if (at_start)
				break;
		}
	return best;
}

size_t gpu_name_nearness(const char *asked, const char *name)
{
	char folded[GPU_ASKED_MAX + 1];
	size_t run;

	if (!gpu_name_fold_core(folded, name))
		return 0;
	run = common_run(asked, folded, false);
	if (run < 2 || 2 * run < strlen(asked))
		return 0;
	return run + 2 * common_run(asked, folded, true);
}
