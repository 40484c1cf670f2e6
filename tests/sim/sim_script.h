/* The script of AUTOFIT_SIM_FAULT, as the simulated driver follows it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_SCRIPT_H
#define AUTOFIT_TESTS_SIM_SCRIPT_H

#include "sim_cuda.h"

/* False: only_rank names another process. */
bool sim_script_is_ours(void);
/* Once, from cuInit. */
void sim_script_read(void);

/* What a call answers by the script, or OK; each counts one call. */
int sim_script_allocation(uint32_t device, uint64_t bytes);
int sim_script_launch(void);
int sim_script_host(void);
int sim_script_module(void);

/* These count nothing. */
int sim_script_context(void);
int sim_script_wait(void); /* LAUNCH_FAILED once the device is lost */

/* As slow as the script says; not while the tables are held. */
void sim_script_delay(void);

#endif
