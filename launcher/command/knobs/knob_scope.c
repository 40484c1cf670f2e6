/* Whose batch an option counts, in programs that no preset knows. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_scope.h"

#include "launcher/command/knobs/by_class.h"

#include <string.h>

void knob_scope_read(struct recognition *r)
{
	struct knob *micro = &r->command->knobs[KNOB_MICRO];
	enum option_class class;

	if (!by_class_applies(r) || r->hints->micro_scope || !micro->name ||
	    micro->scope != SCOPE_RANK)
		return;
	class = option_class_of(micro->name, strlen(micro->name));
	if (class == OPTION_GLOBAL)
		micro->scope = SCOPE_GLOBAL;
	else if (class == OPTION_MICRO_NODE)
		micro->scope = SCOPE_NODE;
}
