/* Finds the facts about a model in its files, or by its name. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_MODEL_H
#define AUTOFIT_CONFIGS_MODELS_MODEL_H

#include "base/error.h"
#include "base/model_facts.h"
#include "base/strlist.h"
#include "configs/models/models.h"

#include <stddef.h>

/* Where to look besides the file system. */
struct model_sources {
	const struct strlist *environment; /* NAME=value; NULL: no hub cache */
	const struct model_table *known;   /* NULL: no names */
};

/*
 * The facts, complete and checked, of what a user names, the first that is
 * there of
 *   a file    *.safetensors (with the config.json beside it), config.json,
 *             model.safetensors.index.json, or one of our own in JSON, YAML,
 *             TOML or INI (model_read_text)
 *   a folder  config.json, and the weights beside it
 *   a name    in the hub's local cache (model_hub_folder), as such a folder
 *   a name    in the table of known models
 *
 * Where there are weights, parameters and stored_bytes are counted in their
 * headers, see model_safetensors.h for what does not count; a head that they
 * lack makes the model tied. An index whose files are not all there counts no
 * parameters, those of the config are left. An architecture that is not known
 * is none the less usable with weights: family MODEL_UNKNOWN. Weights of a
 * packing that is not known leave parameters to the config.
 *
 * -ENOENT: it is none of these, the message says where was looked; -ENOTSUP:
 * the architecture is not known; others name the file and what is wrong in it.
 */
int model_read(struct model_facts *facts, const char *what,
	       const struct model_sources *sources, struct error *err);

/* A text of our own fields (model_text.c) or config.json, by its name's end
 * (.json .yaml .yml .toml .ini .cfg .conf); anything else is -EINVAL. */
struct model_text {
	const char *name; /* for messages, and for its end */
	const char *text;
	size_t length;
};

/*
 * Fields are those of model_fields[], alone or in a table [model]; and family,
 * name, dtype, params ("7b"). A key that is none, a value that is no number
 * from 1, and what does not fit together are errors with "name:line: ..."
 */
int model_read_text(struct model_facts *facts, const struct model_text *text,
		    struct error *err);

/*
 * Where the newest snapshot of a model is in the local hub cache: by
 * HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, HOME. The
 * caller frees it. NULL: none; where was looked is in err.
 */
char *model_hub_folder(const char *name, const struct strlist *environment,
		       struct error *err);

#endif
