/* Options found by the words of their names, where no list has them. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_BY_CLASS_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_BY_CLASS_H

#include "launcher/command/knobs/candidates.h"
#include "launcher/command/text/option_class.h"

#include <stdbool.h>

/* A set of classes. */
#define CLASS_BIT(class) (1U << (class))
#define CLASSES_MICRO (CLASS_BIT(OPTION_MICRO) | CLASS_BIT(OPTION_MICRO_NODE))

/* Of a program that no preset knows only the words tell. */
bool by_class_applies(const struct recognition *r);

/* What may be this knob by its words alone. */
unsigned by_class_of_knob(enum knob_kind kind);

/*
 * Adds options of these classes that the command gives and no knob has taken,
 * and those that the script declares with a whole number.
 */
void by_class_collect(struct candidates *candidates,
		      const struct recognition *r, unsigned classes);

enum option_class by_class_of_candidate(const struct recognition *r,
					const struct candidate *candidate);

/* Of a key in a config file; x: [8], a list of one, is x. */
enum option_class by_class_of_key(const struct settings *settings, size_t i);

/* Is it given, whatever the knob that took it? */
bool by_class_is_typed(const struct recognition *r,
		       const struct source_option *option);

/* The first that the script declares with some default, or NULL. */
const struct source_option *by_class_declared(const struct recognition *r,
					      unsigned classes);

#endif
