/* What befalls a simulated device: nothing, but in tests. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_EVENTS_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The driver and NVML ask here at every place where a real one may behave
 * otherwise than well. The product has no such table, and every answer is the
 * good one. The tests' libraries define it, and read a script for it; the words
 * are listed in tests/sim/sim_script.h.
 */
struct sim_events {
	/*
	 * What follows the next word of the script that begins with the key,
	 * from *place on, which moves behind it; NULL: there is none. *place
	 * NULL: from the first one.
	 */
	const char *(*next)(const char *key, const char **place);
	/* Once, from cuInit. */
	void (*start)(void);
	/* False: the script is for another process. */
	bool (*is_ours)(void);
	/* What a call answers; each counts one call. */
	int (*allocation)(uint32_t device, uint64_t bytes);
	int (*launch)(void);
	int (*host)(void);
	int (*module)(void);
	/* These count nothing. */
	int (*context)(void);
	int (*wait)(void); /* a failed launch once the device is lost */
	/* As slow as the script says; not while the tables are held. */
	void (*delay)(void);
	/* Before a hang that nothing ends but a signal. */
	void (*hang)(void);
};

extern const struct sim_events sim_test_events
	__attribute__((weak, visibility("hidden")));

/* A word of its own: "hang"; or what follows "init=" in it. */
bool sim_fault(const char *word);
bool sim_fault_number(const char *key, uint64_t *number);
const char *sim_fault_next(const char *key, const char **place);

/* The milliseconds that the word asks for; none without it. */
void sim_delay(const char *key);

/* For ever, until a signal ends the process. */
void sim_hang(void);

/* As the functions of the table; 0: all is well. */
void sim_event_start(void);
bool sim_event_is_ours(void);
int sim_event_allocation(uint32_t device, uint64_t bytes);
int sim_event_launch(void);
int sim_event_host(void);
int sim_event_module(void);
int sim_event_context(void);
int sim_event_wait(void);
void sim_event_delay(void);

#endif
