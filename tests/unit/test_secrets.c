/* What is a secret by its name, and where its value stands. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/secrets/secrets.h"

#include "base/alloc.h"
#include "configs/secrets/secrets_url.h"
#include "tests/unit/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *const secrets[] = {
	"token",
	"--token",
	"TOKEN",
	"HF_TOKEN",
	"HF_TOKEN_2",
	"HUGGING_FACE_HUB_TOKEN",
	"HUGGINGFACEHUB_API_TOKEN",
	"--hub_token",
	"--hub-token",
	"--hubToken",
	"--use_auth_token",
	"--push_to_hub_token",
	"GITHUB_TOKEN",
	"GH_TOKEN",
	"CI_JOB_TOKEN",
	"SLACK_BOT_TOKEN",
	"access_token",
	"accessToken",
	"accesstoken",
	"authtoken",
	"refresh_token",
	"MLFLOW_TRACKING_TOKEN",
	"NEPTUNE_API_TOKEN",
	"DVC_STUDIO_TOKEN",
	"ACME_TOKEN",
	"WANDB_API_KEY",
	"COMET_API_KEY",
	"OPENAI_API_KEY",
	"--api-key",
	"--api_key",
	"--apikey",
	"apiKey",
	"APIKey",
	"APIKEY",
	"WandbAPIKey",
	"--wandb_key",
	"trainer.logger.api_key",
	"+trainer.logger.api_key",
	"AWS_SECRET_ACCESS_KEY",
	"--s3.access_key",
	"AZURE_STORAGE_ACCOUNT_KEY",
	"private_key",
	"DJANGO_SECRET_KEY",
	"secret",
	"CLIENT_SECRET",
	"clientSecret",
	"secrets",
	"password",
	"--password",
	"DB_PASSWORD",
	"db_password1",
	"PGPASSWORD",
	"MYSQL_PWD",
	"--passwd",
	"--db-pw",
	"user_pswd",
	"--ssh-pword",
	"password_hash",
	"passphrase",
	"credential",
	"credentials",
	"--aws-credentials",
	"auth",
	"--auth",
	"REDISCLI_AUTH",
	"basic_auth",
	"oauth2",
	"Authorization",
	"SLURM_JWT",
};

static const char *const false_friends[] = {
	"",
	"-",
	"--",
	"PATH",
	"PWD",
	"OLDPWD",
	"INIT_PWD",
	"HOME",
	"SSH_AUTH_SOCK",
	"XAUTHORITY",
	"AWS_SHARED_CREDENTIALS_FILE",
	"GOOGLE_APPLICATION_CREDENTIALS",
	"AWS_ACCESS_KEY_ID",
	"HF_TOKEN_PATH",
	"--token_file",
	"--password-file",
	"TOKENIZERS_PARALLELISM",
	"tokenizer",
	"--tokenizer",
	"--tokenizer_name",
	"--tokenizerName",
	"--tokens",
	"--tokens_per_batch",
	"max_tokens",
	"--max-tokens",
	"--maxTokens",
	"max_token",
	"--max_new_tokens",
	"num_tokens",
	"n_token",
	"token_type",
	"--token_type_ids",
	"token_count",
	"--token-dropout",
	"token_embedding",
	"pad_token",
	"eos_token",
	"--eos-token",
	"bos_token",
	"unk_token",
	"sep_token",
	"cls_token",
	"mask_token",
	"model.image_token",
	"--placeholder_token",
	"--initializer_token",
	"--modifier_token",
	"--trigger-token",
	"stop_token",
	"pad_token_id",
	"eos_token_id",
	"model.eosTokenId",
	"decoder_start_token_id",
	"auth_token_id",
	"monkey",
	"--keypoint",
	"--num_keypoints",
	"keyword",
	"keywords",
	"key",
	"--key",
	"--sort-key",
	"primary_key",
	"--keyboard",
	"--author",
	"--authors",
	"author",
	"authority",
	"authentic",
	"auth_type",
	"--auth-method",
	"--use-auth",
	"--no-auth",
	"no_token",
	"--no-password",
	"secret_name",
	"secretary",
	"compass",
	"pass",
	"pw",
	"pwr",
	"--no-pwd",
	"loss_pow",
	"--passes",
	"--two_pass",
	"bypass",
	"OMP_NUM_THREADS",
	"--learning_rate",
	"123",
};

static void names_are_judged_by_their_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		if (!secret_name(secrets[i], strlen(secrets[i])))
			fail_msg("%s is a secret", secrets[i]);
	for (size_t i = 0; i < sizeof(false_friends) / sizeof(*false_friends);
	     i++)
		if (secret_name(false_friends[i], strlen(false_friends[i])))
			fail_msg("%s is no secret", false_friends[i]);
}

static void only_the_length_given_is_a_name(void **state)
{
	static const struct {
		const char *name, *start, *middle, *end; /* middle: 4 KiB */
		bool is_secret;
	} rows[] = {
		{ "one long word", "", "x", "x", false },
		{ "end of a long word", "", "x", "password", true },
		{ "last of many words", "", "a_", "_token", true },
		{ "first of too many words", "secret_", "a_", "", false },
	};

	(void)state;
	assert_true(secret_name("token_type", 5));
	assert_false(secret_name("tokens", 4));
	assert_false(secret_name("\xff\x01", 2));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf name = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		strbuf_adds(&name, rows[i].start);
		while (name.length < 4096)
			strbuf_adds(&name, rows[i].middle);
		strbuf_adds(&name, rows[i].end);
		assert_int_equal(secret_name(name.data, name.length),
				 rows[i].is_secret);
		strbuf_release(&name);
	}
}

#define WORDS_MAX 8

static const struct {
	const char *name;
	const char *argv[WORDS_MAX], *masked[WORDS_MAX];
	const char *values[WORDS_MAX];
} commands[] = {
	{ "none",
	  { "python", "t.py", "--lr", "1e-4" },
	  { "python", "t.py", "--lr", "1e-4" },
	  { NULL } },
	{ "next argument",
	  { "t.py", "--token", "hf_abcdef", "--lr", "1" },
	  { "t.py", "--token", "***", "--lr", "1" },
	  { "hf_abcdef" } },
	{ "one dash",
	  { "-token", "hf_abcdef" },
	  { "-token", "***" },
	  { "hf_abcdef" } },
	{ "joined",
	  { "--token=hf_abcdef" },
	  { "--token=***" },
	  { "hf_abcdef" } },
	{ "joined with more of it",
	  { "--password=a b=c,d;e'f" },
	  { "--password=***" },
	  { "a b=c,d;e'f" } },
	{ "joined and empty", { "--token=" }, { "--token=" }, { NULL } },
	{ "key", { "token=hf_abcdef" }, { "token=***" }, { "hf_abcdef" } },
	{ "dotted key",
	  { "+trainer.logger.api_key=0123456789" },
	  { "+trainer.logger.api_key=***" },
	  { "0123456789" } },
	{ "variable",
	  { "env", "HF_TOKEN=hf_abcdef", "python" },
	  { "env", "HF_TOKEN=***", "python" },
	  { "hf_abcdef" } },
	{ "variable of a container",
	  { "docker", "run", "-e", "HF_TOKEN=hf_abcdef", "image" },
	  { "docker", "run", "-e", "HF_TOKEN=***", "image" },
	  { "hf_abcdef" } },
	{ "variable behind an option",
	  { "--env=HF_TOKEN=hf_abcdef" },
	  { "--env=HF_TOKEN=***" },
	  { "hf_abcdef" } },
	{ "variable in a list",
	  { "srun", "--export=ALL,HF_TOKEN=hf_abcdef,A=b" },
	  { "srun", "--export=ALL,HF_TOKEN=***,A=b" },
	  { "hf_abcdef" } },
	{ "an option is no value",
	  { "--use_auth_token", "--fp16", "--lr", "1" },
	  { "--use_auth_token", "--fp16", "--lr", "1" },
	  { NULL } },
	{ "a flag's value",
	  { "--use_auth_token", "True", "--token=false" },
	  { "--use_auth_token", "True", "--token=false" },
	  { NULL } },
	{ "a short name alone",
	  { "--pwd", "open sesame", "--pw=sesame1", "PASS=2sesame" },
	  { "--pwd", "***", "--pw=***", "PASS=***" },
	  { "open sesame", "sesame1", "2sesame" } },
	{ "a short name of a folder or a number",
	  { "--pwd", "/data/a", "PWD=~/some/where", "--pass", "200000",
	    "--pw=1.500e-3", "sh -c 't.py --pwd $HOME/x'" },
	  { "--pwd", "/data/a", "PWD=~/some/where", "--pass", "200000",
	    "--pw=1.500e-3", "sh -c 't.py --pwd $HOME/x'" },
	  { NULL } },
	{ "short",
	  { "--password", "abc12" },
	  { "--password", "***" },
	  { NULL } },
	{ "the last", { "t.py", "--token" }, { "t.py", "--token" }, { NULL } },
	{ "a word is no option",
	  { "token", "file" },
	  { "token", "file" },
	  { NULL } },
	{ "twice",
	  { "--token=hf_abcdef", "--hub_token", "hf_abcdef" },
	  { "--token=***", "--hub_token", "***" },
	  { "hf_abcdef" } },
	{ "user of a URL",
	  { "--uri=postgres://user:sesame1@h/db" },
	  { "--uri=postgres://***@h/db" },
	  { "sesame1" } },
	{ "user of a URL alone",
	  { "https://u:sesame1@host:8080/a@b?c=d" },
	  { "https://***@host:8080/a@b?c=d" },
	  { "sesame1" } },
	{ "token as a user",
	  { "git+https://ghp_0123456789abcdef0123@github.com/x.git" },
	  { "git+https://***@github.com/x.git" },
	  { "ghp_0123456789abcdef0123" } },
	{ "plain user",
	  { "ssh://someuser@host/x" },
	  { "ssh://***@host/x" },
	  { NULL } },
	{ "unescaped password",
	  { "redis://u:a/b#cdef@h/0" },
	  { "redis://***@h/0" },
	  { "a/b#cdef" } },
	{ "two URLs",
	  { "http://a:password1@h http://b:password2@h" },
	  { "http://***@h http://***@h" },
	  { "password1", "password2" } },
	{ "no user in a URL",
	  { "http://host:80/a@b", "http://[::1]:80/a@b", "hf://x/y@main" },
	  { "http://host:80/a@b", "http://[::1]:80/a@b", "hf://x/y@main" },
	  { NULL } },
	{ "mail",
	  { "--mail", "me@example.org" },
	  { "--mail", "me@example.org" },
	  { NULL } },
	{ "secret of a query",
	  { "https://host/x?token=abcdefg&y=1" },
	  { "https://host/x?token=***&y=1" },
	  { "abcdefg" } },
	{ "script",
	  { "bash", "-c", "HF_TOKEN=hf_abcdef python t.py --lr 1" },
	  { "bash", "-c", "HF_TOKEN=*** python t.py --lr 1" },
	  { "hf_abcdef" } },
	{ "option in a script",
	  { "sh", "-lc", "python t.py --token hf_abcdef --lr 1" },
	  { "sh", "-lc", "python t.py --token *** --lr 1" },
	  { "hf_abcdef" } },
	{ "quotes in a script",
	  { "sh", "-c", "t.py --password 'open sesame' --token --x" },
	  { "sh", "-c", "t.py --password '***' --token --x" },
	  { "open sesame" } },
	{ "wrapped script",
	  { "--wrap=python t.py --token hf_abcdef --lr 1" },
	  { "--wrap=python t.py --token *** --lr 1" },
	  { "hf_abcdef" } },
	{ "header",
	  { "curl", "-H", "Authorization: Bearer abcdefgh" },
	  { "curl", "-H", "Authorization: ***" },
	  { "Bearer abcdefgh" } },
	{ "header in a script",
	  { "sh", "-c", "curl -H 'Authorization: Bearer abcdefgh' x" },
	  { "sh", "-c", "curl -H 'Authorization: ***' x" },
	  { "Bearer abcdefgh" } },
	{ "JSON",
	  { "{\"token\": \"hf_abcdef\", \"max_tokens\":5}" },
	  { "{\"token\": \"***\", \"max_tokens\":5}" },
	  { "hf_abcdef" } },
	{ "Python",
	  { "python", "-c", "f(token='hf_abcdef', pad_token='x')" },
	  { "python", "-c", "f(token='***', pad_token='x')" },
	  { "hf_abcdef" } },
	{ "false friends",
	  { "--eos_token", "</s>", "--max-tokens=4096", "pad_token_id=0",
	    "--author", "somebody" },
	  { "--eos_token", "</s>", "--max-tokens=4096", "pad_token_id=0",
	    "--author", "somebody" },
	  { NULL } },
	{ "masked before",
	  { "--token", "***", "--api-key=***" },
	  { "--token", "***", "--api-key=***" },
	  { NULL } },
	{ "image and tag",
	  { "registry/token:main" },
	  { "registry/token:main" },
	  { NULL } },
	{ "odd",
	  { "", "=", ":", "://", "http://@h", "\xff=\xff", "--=x", "'" },
	  { "", "=", ":", "://", "http://@h", "\xff=\xff", "--=x", "'" },
	  { NULL } },
	{ "open quotes",
	  { "{\"token\": \"hf_abcdef", "x token='", "y token=" },
	  { "{\"token\": \"***", "x token='", "y token=" },
	  { "hf_abcdef" } },
};

static struct strlist list_of(const char *const words[WORDS_MAX])
{
	struct strlist list = STRLIST_INIT;

	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		strlist_add(&list, words[i]);
	return list;
}

static void assert_lists(const struct strlist *list,
			 const char *const expected[WORDS_MAX])
{
	for (size_t i = 0; i < WORDS_MAX && expected[i]; i++) {
		assert_true(i < list->count);
		assert_string_equal(list->items[i], expected[i]);
	}
	assert_true(list->count == WORDS_MAX || !expected[list->count]);
}

static void commands_lose_their_secrets(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct strlist argv = list_of(commands[i].argv);
		struct strlist none = STRLIST_INIT;
		struct strlist masked = STRLIST_INIT;
		struct strlist again = STRLIST_INIT;
		struct strlist values = STRLIST_INIT;

		print_message("%s\n", commands[i].name);
		secrets_mask_argv(&masked, &argv);
		assert_lists(&masked, commands[i].masked);
		secrets_mask_argv(&again, &masked);
		assert_true(strlist_equal(&masked, &again));
		secrets_values(&values, &argv, &none);
		assert_lists(&values, commands[i].values);
		strlist_release(&argv);
		strlist_release(&masked);
		strlist_release(&again);
		strlist_release(&values);
	}
}

static void the_environment_has_secrets_too(void **state)
{
	static const char *const variables[] = {
		"HF_TOKEN=hf_abcdef",
		"WANDB_API_KEY=0123456789",
		"SHORT_TOKEN=abcde",
		"EMPTY_TOKEN=",
		"USE_TOKEN=anonymous",
		"SECRET",
		"=token",
		"PATH=/usr/bin:/bin",
		"SSH_AUTH_SOCK=/tmp/agent.1",
		"XAUTHORITY=/home/u/.Xauthority",
		"https_proxy=http://user:sesame2@proxy:3128",
		"AGAIN_TOKEN=hf_abcdef",
		"A_PASSWORD=a=b=c=d",
	};
	static const char *const expected[WORDS_MAX] = {
		"from argv", "hf_abcdef", "0123456789", "sesame2", "a=b=c=d",
	};
	struct strlist environment = STRLIST_INIT;
	struct strlist argv = STRLIST_INIT;
	struct strlist values = STRLIST_INIT;

	(void)state;
	strlist_add(&argv, "--secret=from argv");
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		strlist_add(&environment, variables[i]);
	secrets_values(&values, &argv, &environment);
	assert_lists(&values, expected);
	strlist_release(&environment);
	strlist_release(&argv);
	strlist_release(&values);
}

static void known_values_are_masked_anywhere(void **state)
{
	static const struct {
		const char *name, *text;
		const char *values[WORDS_MAX];
		const char *masked;
	} rows[] = {
		{ "none", "a b c", { NULL }, "a b c" },
		{ "empty", "", { "secret" }, "" },
		{ "all of it", "secret", { "secret" }, "***" },
		{ "within", "a secret!", { "secret" }, "a ***!" },
		{ "again", "secret, secret", { "secret" }, "***, ***" },
		{ "side by side", "secretsecret", { "secret" }, "***" },
		{ "two", "one two three", { "three", "one" }, "*** two ***" },
		{ "the longer first",
		  "secret-more",
		  { "secret", "secret-more" },
		  "***" },
		{ "overlapping", "xabcdey", { "abcd", "cde" }, "x***y" },
		{ "half", "secre", { "secret" }, "secre" },
		{ "an empty value", "abc", { "" }, "abc" },
		{ "URL", "at https://u:p@h/x", { NULL }, "at https://***@h/x" },
		{ "URL in quotes",
		  "'http://u:p@h' x@y",
		  { NULL },
		  "'http://***@h' x@y" },
		{ "not by name", "token=abcdef", { NULL }, "token=abcdef" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist values = list_of(rows[i].values);
		struct strbuf out = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		strbuf_adds(&out, "> ");
		secrets_mask_text(&out, rows[i].text, &values);
		assert_string_equal(out.data + 2, rows[i].masked);
		strlist_release(&values);
		strbuf_release(&out);
	}
}

/* Whatever an argument is made of, its secret is not in what is shown. */
static void no_noise_shows_a_secret(void **state)
{
	static const char *const pieces[] = {
		"token=", " ", "--", "'",  "\"", ":", "://", "@",
		"=",      ",", "{",  "-c", "x",  "/", "?",   "\xff",
	};
	const size_t count = sizeof(pieces) / sizeof(*pieces);
	uint64_t seed = 11;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct strlist argv = STRLIST_INIT;
		struct strlist masked = STRLIST_INIT;
		struct strlist values = STRLIST_INIT;
		struct strbuf noise = STRBUF_INIT;

		for (int j = 0; j < 8; j++)
			strbuf_adds(&noise,
				    pieces[scratch_random(&seed) % count]);
		strlist_add(&argv, strbuf_text(&noise));
		strlist_addf(&argv, "--api-key=%s", "hf_abcdef");
		strbuf_adds(&noise, " token=hf_abcdef");
		strlist_add(&argv, strbuf_text(&noise));
		secrets_mask_argv(&masked, &argv);
		assert_int_equal(masked.count, argv.count);
		for (size_t j = 0; j < masked.count; j++)
			if (strstr(masked.items[j], "hf_abcdef"))
				fail_msg("%s: %s", argv.items[j],
					 masked.items[j]);
		secrets_values(&values, &argv, &argv);
		strlist_release(&argv);
		strlist_release(&masked);
		strlist_release(&values);
		strbuf_release(&noise);
	}
}

/* Time that grew with the square of the length would be minutes. */
static void long_texts_take_no_long_time(void **state)
{
	static const char *const pieces[] = {
		"token=a,",   "x://a:b", "a@",     "--token a ", "token: ",
		"\"token\":", "a.b_c-D", "= = = ", "''''",       "aaaaaaaa",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct strlist argv = STRLIST_INIT;
		struct strlist masked = STRLIST_INIT;
		struct strbuf text = STRBUF_INIT;
		struct strbuf out = STRBUF_INIT;

		print_message("%s\n", pieces[i]);
		while (text.length < 200000)
			strbuf_adds(&text, pieces[i]);
		strlist_add(&argv, text.data);
		secrets_mask_argv(&masked, &argv);
		secrets_mask_text(&out, text.data, &argv);
		assert_string_equal(out.data, "***");
		strlist_release(&argv);
		strlist_release(&masked);
		strbuf_release(&text);
		strbuf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_judged_by_their_words),
		cmocka_unit_test(only_the_length_given_is_a_name),
		cmocka_unit_test(commands_lose_their_secrets),
		cmocka_unit_test(the_environment_has_secrets_too),
		cmocka_unit_test(known_values_are_masked_anywhere),
		cmocka_unit_test(no_noise_shows_a_secret),
		cmocka_unit_test(long_texts_take_no_long_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
