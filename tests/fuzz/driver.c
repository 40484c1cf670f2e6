/* Hands inputs to a fuzz target: those of libFuzzer, or files of folders. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#ifdef AUTOFIT_FUZZ

/* The name is libFuzzer's. */
/* NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_one((const char *)data, size);
	return 0;
}

#else

#	include "base/textfile.h"

#	include <dirent.h>

#	define INPUT_MAX ((size_t)1024 * 1024)

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay(const char *path)
{
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct fuzz_input whole;
	char *copy;

	/* Seen when it is the last. */
	(void)printf("%s\n", path);
	(void)fflush(stdout);
	if (textfile_read(path, INPUT_MAX, &text, &err) != 0)
		fuzz_fail("cannot be read", err.message);
	whole = (struct fuzz_input){ strbuf_text(&text), text.length };
	copy = fuzz_copy(whole, false);
	fuzz_one(copy, text.length);
	free(copy);
	strbuf_release(&text);
}

static int replay_folder(const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_input, alphasort);
	char path[4096];

	if (count <= 0) {
		(void)fprintf(stderr, "%s: no inputs\n", folder);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder,
			       entries[i]->d_name);
		replay(path);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* One folder of inputs, or files that are inputs. */
int main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;

	if (folder) {
		(void)closedir(folder);
		return replay_folder(argv[1]);
	}
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return argc < 2;
}

#endif
