/* Reads options files, and the GPU models for --as. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_files.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/files/owned_file.h"
#include "configs/files/paths.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROJECT_FILE ".autofit.ini"
#define FILE_NAME "autofit.ini"

/* Who may have written what counts for this user. */
static struct owners owners_of_folder(const char *folder)
{
	struct owners owners = { .uids = { geteuid(), 0 }, .count = 2 };
	struct stat info;

	if (stat(folder, &info) == 0)
		owners.uids[owners.count++] = info.st_uid;
	return owners;
}

static bool is_of_another_user(int fd)
{
	struct stat info;

	return fstat(fd, &info) < 0 ||
	       (info.st_uid != geteuid() && info.st_uid != 0);
}

/* 1 when it is there and counts, 0 when it is missing, else -errno. */
static int options_files_load(struct options_file *file, struct strbuf *text,
			      const char *folder, struct error *err)
{
	const struct owners owners = owners_of_folder(folder);
	int fd = owned_file_open(file->path, &owners, err);
	int result;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? 0 : fd;
	file->foreign = is_of_another_user(fd);
	result = textfile_read_open(fd, file->path, OPTIONS_FILE_BYTES_MAX,
				    text, err);
	if (result > 0)
		return error_set(err, -EFBIG,
				 "cannot use %s: it is larger than %zu KiB",
				 file->path, OPTIONS_FILE_BYTES_MAX >> 10);
	file->text = strbuf_text(text);
	file->length = text->length;
	return result < 0 ? result : 1;
}

/* Takes path. */
static struct options_file *options_files_add(struct options_files_read *files,
					      char *path, const char *folder,
					      struct strlist *warnings)
{
	struct options_file *file = &files->items[files->count];
	struct strbuf *text = &files->texts[files->count];
	struct error err = ERROR_INIT;
	int result;

	file->path = path;
	result = options_files_load(file, text, folder, &err);
	if (result == 1) {
		files->paths[files->count++] = path;
		return file;
	}
	if (result < 0)
		strlist_addf(warnings, "%s (passed over)", err.message);
	strbuf_release(text);
	memset(file, 0, sizeof(*file));
	free(path);
	return NULL;
}

void options_files_read(struct options_files_read *files,
			const struct strlist *environment,
			struct strlist *warnings)
{
	struct options_file *file;
	struct paths paths;
	int result;

	memset(files, 0, sizeof(*files));
	(void)options_files_add(files, xstrdup(PROJECT_FILE), ".", warnings);
	/*
	 * Who needs these folders later warns of them, or says that there are
	 * none: then it is known how much is to be said.
	 */
	log_set_level(LOG_LEVEL_QUIET);
	result = paths_find(&paths, environment, NULL);
	log_set_level(LOG_LEVEL_NORMAL);
	if (result < 0)
		return;
	(void)options_files_add(files, xasprintf("%s/" FILE_NAME, paths.config),
				paths.config, warnings);
	if (paths.site) {
		file = options_files_add(files,
					 xasprintf("%s/" FILE_NAME, paths.site),
					 paths.site, warnings);
		/* The user himself has named the site. */
		if (file)
			file->foreign = false;
	}
	paths_release(&paths);
}

void options_files_release(struct options_files_read *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->paths[i]);
		strbuf_release(&files->texts[i]);
	}
	memset(files, 0, sizeof(*files));
}

/* "h100x8": the name and how many; one, without a number at its end. */
static char *card_words(const char *words, int *count)
{
	size_t length = strlen(words);
	size_t name = length;
	int64_t number = 0;

	while (name > 0 && isdigit((unsigned char)words[name - 1]))
		name--;
	*count = 1;
	/* "rtx4090" ends in a number as well. */
	if (name == length || name < 2 ||
	    tolower((unsigned char)words[name - 1]) != 'x' ||
	    integer_parse(words + name, &number, NULL) < 0 || number < 1 ||
	    number > OPTIONS_CARDS_MAX)
		return xstrdup(words);
	*count = (int)number;
	return xstrndup(words, name - 1);
}

/* A card is not there in all that a program may ask of it. */
static int find_card(struct options *options,
		     const struct gpu_catalogue *catalogue, struct error *err)
{
	struct options_target *target = &options->target;
	char *name = card_words(target->phantom, &target->card_count);
	const struct gpu_model *model =
		gpu_catalogue_find(catalogue, name, err);
	int result = model ? 0 : -ENOENT;

	free(name);
	if (result == 0 && (!model->compute_major || !model->multiprocessors))
		result = error_set(err, -EINVAL,
				   "%s: gpus.csv does not say its compute "
				   "capability (cc) and multiprocessors (sms)",
				   model->name);
	if (result < 0)
		return error_prefix(err, "a phantom card");
	target->card = *model;
	return 0;
}

static int find_emulated(struct options *options,
			 const struct gpu_catalogue *catalogue,
			 struct error *err)
{
	const struct gpu_model *model =
		gpu_catalogue_find(catalogue, options->target.as, err);

	if (!model)
		return error_prefix(err, "--as");
	options->target.model = *model;
	return 0;
}

void gpu_catalogue_of_user(struct gpu_catalogue *catalogue,
			   const struct strlist *environment,
			   struct strlist *warnings)
{
	struct paths paths;
	char *path = NULL;

	/* Without a home there are the built-in models still. */
	if (paths_find(&paths, environment, NULL) == 0)
		path = xasprintf("%s/gpus.csv", paths.config);
	gpu_catalogue_load(catalogue, path, warnings);
	paths_release(&paths);
	free(path);
}

int options_find_model(struct options *options,
		       const struct strlist *environment,
		       struct strlist *warnings, struct error *err)
{
	struct gpu_catalogue catalogue;
	int result = 0;

	memset(&options->target.model, 0, sizeof(options->target.model));
	if (!options->target.as && !options->target.phantom)
		return 0;
	gpu_catalogue_of_user(&catalogue, environment, warnings);
	if (options->target.as)
		result = find_emulated(options, &catalogue, err);
	if (result == 0 && options->target.phantom)
		result = find_card(options, &catalogue, err);
	gpu_catalogue_release(&catalogue);
	return result;
}
