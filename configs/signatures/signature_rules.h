/* The rules behind a set of signatures: shared by its two source files. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SIGNATURES_SIGNATURE_RULES_H
#define AUTOFIT_CONFIGS_SIGNATURES_SIGNATURE_RULES_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/signatures/literals.h"
#include "configs/signatures/pattern.h"
#include "configs/signatures/signature.h"

#include <stddef.h>

#define SIGNATURES_MAX 1024

struct rule {
	struct signature shown;
	char *where; /* "path:line" of its first entry, for messages */
	char *text;  /* of the pattern; NULL: the literals alone decide */
	struct pattern *pattern;
	struct strlist contains, examples;
	size_t *literals; /* contains, as numbers of the set's literals */
	size_t number;    /* in the order of loading */
};

struct signatures {
	struct rule *rules; /* in the order in which they are asked */
	size_t count, capacity;
	struct literals *literals;
};

/*
 * Fill the rules from the built-in files and the *.ini of the folder (NULL:
 * none), in the order of loading. They are what was written, not checked.
 */
int rules_read(struct signatures *set, const char *folder, struct error *err);
void rule_release(struct rule *rule);

#endif
