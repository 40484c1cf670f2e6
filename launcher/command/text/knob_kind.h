/* The kinds of knobs: what a command says of its sizes. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_KNOB_KIND_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_KNOB_KIND_H

enum knob_kind {
	KNOB_MICRO,  /* micro-batch */
	KNOB_ACCUM,  /* gradient accumulation */
	KNOB_GLOBAL, /* effective batch, where the framework derives the rest */
	KNOB_STEPS,  /* optimizer steps to run */
	KNOB_OUTPUT, /* output folder */
	KNOB_KINDS,
};

#endif
