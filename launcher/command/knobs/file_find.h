/* What a config file says of a knob, and what is said of that. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_FILE_FIND_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_FILE_FIND_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/option_class.h"

#include <stddef.h>
#include <stdint.h>

/* The settings of one file that may be a knob, in its order: of a value that
 * names another one, that. */
struct file_find {
	const struct command_file *file;
	const char *key; /* of the first, as it was found */
	const struct setting *items[SETTINGS_SAME_MAX];
	size_t count;
};

/* By keys of the knob's own, else by the names of its options. */
void file_find_knob(struct file_find *find, const struct recognition *r,
		    enum knob_kind kind, const struct command_file *file);
/* The very key, where there is one, else all that are so called. */
void file_find_key(struct file_find *find, const struct recognition *r,
		   const char *key, const struct command_file *file);

/* The file that one of them stands in. */
const char *file_find_path(const struct file_find *find,
			   const struct setting *setting);

/* The number that the settings agree on. */
enum command_outcome file_find_number(const struct recognition *r,
				      enum knob_kind kind,
				      const struct file_find *find,
				      int64_t *number);
/* The refusals: the first and another are two. */
enum command_outcome file_find_several(const struct recognition *r,
				       enum knob_kind kind,
				       const struct file_find *find,
				       size_t other);
/* One of them is no scalar, be it a number or none. */
enum command_outcome file_find_no_place(const struct recognition *r,
					enum knob_kind kind,
					const struct file_find *find,
					const struct setting *setting);

/* Keys with whole numbers, of each class in the last file that has any. */
struct file_keys {
	const struct setting *first[OPTION_CLASSES];
	size_t count[OPTION_CLASSES];
};
void file_keys_find(struct file_keys *keys, const struct recognition *r);
/* The one key like a batch by which the script divides where it computes its
 * accumulation, as by max_train_batch_size; NULL: there is none. */
const struct setting *file_keys_divisor(const struct file_keys *keys,
					const struct recognition *r);

#endif
