/* Is a name that of a secret? Told by its words. Pure. */
/* SPDX-License-Identifier: MIT */
#include "base/match.h"
#include "configs/secrets/secrets.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX 24
/* The last words of a name decide; longer names have more before them. */
#define WORDS_MAX 24

struct words {
	char items[WORDS_MAX][WORD_MAX];
	size_t count;
};

/* Wherever they stand in a name. */
static const char *const secret_words[] = {
	"secret",        "secrets",    "password",    "passwords",
	"passwd",        "passphrase", "credential",  "credentials",
	"creds",         "apikey",     "apikeys",     "accesskey",
	"secretkey",     "privatekey", "accesstoken", "authtoken",
	"apitoken",      "hftoken",    "hubtoken",    "authkey",
	"authorization", "jwt",        NULL,
};

/* Only as the last word. */
static const char *const last_words[] = { "token", "auth", "oauth", NULL };

/* Two words side by side, wherever they stand. */
static const char *const secret_pairs[][2] = {
	{ "api", "key" },      { "api", "keys" },    { "access", "key" },
	{ "private", "key" },  { "auth", "key" },    { "encryption", "key" },
	{ "signing", "key" },  { "account", "key" }, { "wandb", "key" },
	{ "storage", "key" },  { "service", "key" }, { "auth", "token" },
	{ "access", "token" }, { "api", "token" },   { "db", "pass" },
	{ "user", "pass" },    { "smtp", "pass" },   { "mysql", "pass" },
	{ "redis", "pass" },   { NULL, NULL },
};

/* A name that ends so says something about a secret, or where it is kept. */
static const char *const about_words[] = {
	"id",          "ids",        "idx",      "type",     "types",
	"kind",        "class",      "count",    "counts",   "len",
	"length",      "size",       "limit",    "budget",   "rate",
	"file",        "files",      "filename", "path",     "paths",
	"dir",         "folder",     "sock",     "socket",   "host",
	"port",        "url",        "uri",      "endpoint", "method",
	"mode",        "name",       "names",    "enabled",  "disabled",
	"required",    "provider",   "timeout",  "expiry",   "ttl",
	"embedding",   "embeddings", "scheme",   "region",   "prompt",
	"level",       "weight",     "loss",     "dropout",  "lr",
	"dim",         "hidden",     "layers",   "cmd",      "command",
	"env",         "var",        "variable", "helper",   "manager",
	"parallelism", NULL,
};

/* Before "token": one of a text or a picture, not one that opens a door. */
static const char *const text_words[] = {
	"pad",         "padding",   "eos",       "bos",          "unk",
	"unknown",     "sep",       "separator", "cls",          "mask",
	"sos",         "eot",       "eod",       "start",        "end",
	"stop",        "begin",     "special",   "image",        "img",
	"audio",       "video",     "vision",    "text",         "speech",
	"first",       "last",      "next",      "prev",         "previous",
	"new",         "per",       "by",        "max",          "min",
	"num",         "n",         "total",     "drop",         "extra",
	"add",         "learnable", "class",     "patch",        "query",
	"register",    "dist",      "distill",   "distillation", "blank",
	"space",       "vocab",     "word",      "initializer",  "init",
	"placeholder", "trigger",   "instance",  "modifier",     "concept",
	"rare",        "prompt",    "response",  "answer",       "think",
	"tool",        "system",    "assistant", "sub",          "newline",
	"eol",         "linebreak", "language",  "lang",         "decoder",
	"encoder",     "latent",    "content",   "continuation", "reward",
	"each",        "every",     "thought",   NULL,
};

/* Before "auth" and "pwd": not what is sent but whether, or a folder. */
static const char *const switch_words[] = {
	"use",   "with", "enable", "require", "disable", "init",
	"start", "old",  "base",   "current", NULL,
};

/* A name that begins so takes nothing. */
static const char *const negative_words[] = {
	"no", "not", "without", "skip", "ignore", "disable", NULL,
};

/* Digits at its end only number a word; digits alone are none. */
static void words_end(struct words *words, char *word, size_t *length)
{
	while (*length && isdigit((unsigned char)word[*length - 1]))
		(*length)--;
	word[*length] = '\0';
	if (*length == 0)
		return;
	if (words->count == WORDS_MAX) {
		memmove(words->items, words->items + 1,
			sizeof(words->items) - sizeof(*words->items));
		words->count--;
	}
	memcpy(words->items[words->count++], word, *length + 1);
	*length = 0;
}

/* apiKey, APIKey: a word begins where upper case does, or its last letter. */
static bool begins_word(const char *name, size_t at, size_t length)
{
	unsigned char before = (unsigned char)name[at ? at - 1 : 0];
	unsigned char after =
		(unsigned char)name[at + 1 < length ? at + 1 : at];

	if (at == 0 || !isupper((unsigned char)name[at]))
		return false;
	return islower(before) || isdigit(before) ||
	       (isupper(before) && islower(after));
}

static void words_split(struct words *words, const char *name, size_t length)
{
	char word[WORD_MAX];
	size_t used = 0;

	words->count = 0;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!isalnum(c) || begins_word(name, i, length))
			words_end(words, word, &used);
		/* The end of a longer word decides, as in PGPASSWORD. */
		if (isalnum(c) && used == WORD_MAX - 1)
			memmove(word, word + 1, --used);
		if (isalnum(c))
			word[used++] = (char)tolower(c);
	}
	words_end(words, word, &used);
}

static bool has_secret_word(const struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (text_is_listed(secret_words, words->items[i]) ||
		    text_ends_with(words->items[i], "password") ||
		    text_ends_with(words->items[i], "passwd"))
			return true;
	return false;
}

static bool has_secret_pair(const struct words *words)
{
	for (size_t i = 1; i < words->count; i++)
		for (size_t j = 0; secret_pairs[j][0]; j++)
			if (strcmp(words->items[i - 1], secret_pairs[j][0]) ==
				    0 &&
			    strcmp(words->items[i], secret_pairs[j][1]) == 0)
				return true;
	return false;
}

/* pw, pwd, pswd: letters of "password" in its order, with the w. */
static bool abbreviates_password(const char *word)
{
	const char *rest = "password";
	const char *at = word;
	char last = '\0';

	for (; *at && (rest = strchr(rest, *at)); at++, rest++)
		last = *at;
	return !*at && *word == 'p' && strchr(word, 'w') &&
	       (last == 'w' || last == 'd');
}

static bool has_last_word(const struct words *words)
{
	const char *last = words->items[words->count - 1];
	const char *before =
		words->count > 1 ? words->items[words->count - 2] : NULL;

	if (abbreviates_password(last))
		return before && !text_is_listed(switch_words, before);
	if (!text_is_listed(last_words, last))
		return false;
	if (!before)
		return true;
	if (strcmp(last, "token") == 0)
		return !text_is_listed(text_words, before);
	return !text_is_listed(switch_words, before);
}

bool secret_name(const char *name, size_t length)
{
	struct words words;

	words_split(&words, name, length);
	if (words.count == 0 ||
	    text_is_listed(negative_words, words.items[0]) ||
	    text_is_listed(about_words, words.items[words.count - 1]))
		return false;
	/* The library reads a path there. */
	if (words.count > 1 &&
	    strcmp(words.items[words.count - 2], "application") == 0 &&
	    strcmp(words.items[words.count - 1], "credentials") == 0)
		return false;
	return has_secret_word(&words) || has_secret_pair(&words) ||
	       has_last_word(&words);
}

bool secret_is_named(const char *name, size_t length, const char *value)
{
	struct words words;

	if (secret_name(name, length))
		return true;
	words_split(&words, name, length);
	if (words.count != 1 || (strcmp(words.items[0], "pass") != 0 &&
				 !abbreviates_password(words.items[0])))
		return false;
	value += strspn(value, "\"' \t");
	return !strchr("/.~$", *value) &&
	       value[strspn(value, "0123456789.e+-")] != '\0';
}
