/* --as NAME: which GPU model is meant, and how much memory it has. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options.h"

#include "base/alloc.h"
#include "configs/files/paths.h"

#include <stdlib.h>
#include <string.h>

int options_find_model(struct options *options,
		       const struct strlist *environment,
		       struct strlist *warnings, struct error *err)
{
	const struct gpu_model *model;
	struct gpu_catalogue catalogue;
	struct paths paths;
	char *path = NULL;
	int result = 0;

	memset(&options->model, 0, sizeof(options->model));
	if (!options->as)
		return 0;
	/* Without a home there are the built-in models still. */
	if (paths_find(&paths, environment, NULL) == 0)
		path = xasprintf("%s/gpus.csv", paths.config);
	gpu_catalogue_load(&catalogue, path, warnings);
	model = gpu_catalogue_find(&catalogue, options->as, err);
	if (model)
		options->model = *model;
	else
		result = error_prefix(err, "--as");
	gpu_catalogue_release(&catalogue);
	paths_release(&paths);
	free(path);
	return result;
}
