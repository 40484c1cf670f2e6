/* Writes the manual pages, from prose and the tables of the program. */
/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/textfile.h"
#include "scripts/pages/manpage.h"

#include <stdio.h>
#include <stdlib.h>

#define PROSE_MAX ((size_t)1 << 20)

static const struct output {
	const char *name;
	const char *prose; /* in the folder of prose */
} outputs[] = {
	{ "autofit.1", "autofit.1.in" },
	{ "autofit-records.5", "autofit-records.5.in" },
	{ "autofit-preset.5", "autofit-preset.5.in" },
	{ "autofit-nightly.5", "autofit-nightly.5.in" },
};

static int make_page(const struct output *output, const char *folder,
		     struct strbuf *text, struct error *err)
{
	char *path = xasprintf("%s/%s", folder, output->prose);
	struct strbuf prose = STRBUF_INIT;
	int result = textfile_read(path, PROSE_MAX, &prose, err);

	if (result >= 0)
		result = manpage_expand(text, strbuf_text(&prose), err);
	if (result < 0)
		(void)error_prefix(err, "%s", path);
	strbuf_release(&prose);
	free(path);
	return result;
}

static int make(const struct output *output, const char *prose_folder,
		const char *folder, struct error *err)
{
	char *path = xasprintf("%s/%s", folder, output->name);
	struct strbuf text = STRBUF_INIT;
	int result = make_page(output, prose_folder, &text, err);

	if (result == 0)
		result = textfile_replace(path, 0644, text.data, text.length,
					  err);
	strbuf_release(&text);
	free(path);
	return result;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;

	if (argc != 3) {
		(void)fputs("usage: autofit_pages PROSE-FOLDER FOLDER\n",
			    stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
		if (make(&outputs[i], argv[1], argv[2], &err) == 0)
			continue;
		(void)fprintf(stderr, "autofit_pages: %s\n", err.message);
		return 1;
	}
	return 0;
}
