/* Files that a command names, as far as they were read. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/named_files.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static const struct text_file *find(const struct named_files *texts,
				    const char *path)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strcmp(texts->items[i].path, path) == 0)
			return &texts->items[i];
	return texts->beneath ? find(texts->beneath, path) : NULL;
}

const struct text_file *named_files_get(struct named_files *texts,
					const char *path)
{
	const struct text_file *file = find(texts, path);

	if (file)
		return file;
	if (texts->count < TEXTS_MAX && !texts->wanted)
		texts->wanted = xstrdup(path);
	return NULL;
}

void named_files_add(struct named_files *texts, const char *path,
		     struct strbuf *text, int error)
{
	struct text_file *file = &texts->items[texts->count];

	if (texts->count == TEXTS_MAX)
		return;
	*file = (struct text_file){ .path = xstrdup(path), .error = error };
	if (text) {
		file->text = *text;
		*text = (struct strbuf)STRBUF_INIT;
	}
	texts->count++;
	free(texts->wanted);
	texts->wanted = NULL;
}

void named_files_release(struct named_files *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->items[i].path);
		strbuf_release(&texts->items[i].text);
	}
	free(texts->wanted);
	*texts = (struct named_files)TEXTS_INIT;
}
