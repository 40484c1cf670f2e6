/* Values of an identity that people know by other words. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/identity/identity_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static bool piece_is(const struct piece *piece, const char *text)
{
	return piece->length == strlen(text) &&
	       memcmp(piece->text, text, piece->length) == 0;
}

const char *identity_words_of(const struct piece *label,
			      const struct piece *now)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (piece_is(label, answers[i].label) &&
		    piece_is(now, answers[i].value))
			return answers[i].words;
	return NULL;
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

bool identity_words_bytes(const struct piece *piece, char text[BYTES_TEXT_MAX])
{
	uint64_t bytes;

	if (!piece_bytes(piece, &bytes))
		return false;
	(void)bytes_format(text, bytes);
	return true;
}
