/* Small files of the kernel, of one line or of "key value" lines. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_KERNEL_FILES_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_KERNEL_FILES_H

#include "base/strbuf.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The folder that AUTOFIT_SYSFS names in place of /sys, for tests; or NULL. */
const char *kernel_sys_elsewhere(void);

/*
 * Names in a folder, sorted, so that what is found does not depend on the
 * order of the kernel's list. None where the folder cannot be read.
 */
void kernel_folder_names(struct strlist *names, const char *path);
/* The same of names that are numbers, sorted as such. */
void kernel_folder_numbers(struct strlist *names, const char *path);

/* Replaces text by <folder>/<name>/<file>; false where it cannot be read. */
bool kernel_file_read(struct strbuf *text, const char *folder, const char *name,
		      const char *file);

/* Of such a file that holds one whole number: 0 and false where it cannot be
 * read, is none or is negative. */
bool kernel_file_number(const char *folder, const char *name, const char *file,
			uint64_t *number);

/* The rest of the line that begins with key, without blanks around it. */
bool kernel_line_value(char *value, size_t size, const char *text,
		       const char *key);

#endif
