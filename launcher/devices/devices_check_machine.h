/* The surroundings of a self-test: the machine, and how fast NVML is. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECK_MACHINE_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECK_MACHINE_H

#include "launcher/devices/devices_checked.h"

/* Fills in what is known of driver, container, WSL and the kernel's list. */
void devices_check_machine(struct devices_checked *checked,
			   const struct strlist *environment,
			   const struct host_roots *roots);

/*
 * Asks NVML again and again, for 2 s at most. The caller closes what is
 * returned; NULL: there is none.
 */
struct nvml *devices_check_nvml(struct devices_checked *checked);

#endif
