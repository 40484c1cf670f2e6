/* What is noted of a phantom card while a program runs on it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_NOTES_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_NOTES_H

#include <stdint.h>

enum sim_note_kind {
	/* The size of a result depended on values, which are zeros here; the
	 * text is the kernel's name. */
	SIM_NOTE_DATA_SIZE,
	/* The program asked for a value, and what it does next may depend on
	 * the answer; the text says where and what. */
	SIM_NOTE_VALUE,
	/* So few bytes were read back that they may decide something, and
	 * nobody saw what for: there is no Python, or it is not watched. */
	SIM_NOTE_UNSEEN,
	/* So many bytes were read back: zeros. */
	SIM_NOTE_READ,
	/* The process was ended; the text says why. */
	SIM_NOTE_REFUSED,
	/* PyTorch was loaded, with its kernels for a card. */
	SIM_NOTE_PYTORCH,
	/* NVIDIA's own runtime, which a program carried inside, asked for what
	 * only NVIDIA's driver has. */
	SIM_NOTE_FOREIGN,
	/* A convolution was made: the workspace that a real one takes is not
	 * counted. */
	SIM_NOTE_CONVOLUTION,
	SIM_NOTE_KINDS,
};

#define SIM_NOTE_TEXT_MAX 128

struct sim_note {
	uint64_t count, sum;
	char text[SIM_NOTE_TEXT_MAX]; /* of the first one */
};

/* A process's most memory on one device, and what it was refused. */
struct sim_usage {
	uint64_t start_time;
	int32_t pid;  /* 0: none */
	int32_t rank; /* RANK of its environment; -1: none */
	uint32_t device;
	uint64_t used_bytes, peak_bytes;
	uint64_t context_bytes; /* the most that its contexts had */
	uint64_t refusals;      /* calls for memory that failed */
	uint64_t refused_bytes; /* asked by the last of them */
};

/* The driver's own function by which the runtime notes; 0. */
#define SIM_NOTE_FUNCTION "autofit_phantom_note"

#endif
