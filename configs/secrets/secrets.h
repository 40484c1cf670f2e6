/* Tokens and passwords, found by the names they go under, and masked. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SECRETS_SECRETS_H
#define AUTOFIT_CONFIGS_SECRETS_SECRETS_H

#include "base/strbuf.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>

#define SECRET_MASK "***"
/* Shorter values are no secrets worth hiding in a log ("1", "true"). */
#define SECRET_BYTES_MIN 6

/*
 * Is this the name of an option, key or variable that holds a secret? By words
 * between - _ . and case: token, api_key, apikey, secret, password, passwd,
 * credential(s), auth; not tokenizer, max_tokens, num_tokens, token_type,
 * pad_token, eos_token, *_token_id, monkey, keyword.
 */
bool secret_name(const char *name, size_t length);

/*
 * Does it hold this one? As above; a name that may also be a folder's or a
 * number's (pwd, pass, pw, alone) holds a secret where the value is neither.
 */
bool secret_is_named(const char *name, size_t length, const char *value);

/*
 * Append a copy of argv with values of such options as ***: --token V,
 * --token=V, key=V, and user info of URLs anywhere (https://u:p@host).
 */
void secrets_mask_argv(struct strlist *out, const struct strlist *argv);

/* Append text with user info of URLs masked, and every one of values. */
void secrets_mask_text(struct strbuf *out, const char *text,
		       const struct strlist *values);

/*
 * Append the values themselves, each once, at least SECRET_BYTES_MIN bytes:
 * of argv and of the variables of the environment that have such names. For
 * masking logs; never to be written anywhere.
 */
void secrets_values(struct strlist *values, const struct strlist *argv,
		    const struct strlist *environment);

#endif
