/* The words of AUTOFIT_SIM_FAULT: what befalls the tests' devices. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_SCRIPT_H
#define AUTOFIT_TESTS_SIM_SCRIPT_H

#include "probes/phantom/device/sim_cuda.h"
#include "probes/phantom/device/sim_events.h"

/*
 * AUTOFIT_SIM_HANGS=FIFO      opened for writing by each process that hangs:
 *                             a reader knows when it does, and when it is gone
 * AUTOFIT_SIM_FAULT=WORDS     separated by commas:
 *     crash, hang, exit       in cuInit
 *     noise                   cuInit writes to stdout and stderr
 *     init=N                  cuInit answers N
 *     mig                     devices are MIG instances, by their UUID
 *     name=crash              in cuDeviceGetName
 *     nvml=missing            nvmlInit_v2 answers "library not found"
 *     init_ms=N               cuInit takes so long
 *     nvml=hang               in nvmlInit_v2
 *     nvml_hang_after=K       in the K-th nvmlDeviceGetMemoryInfo of a process
 *     nvml_ms=N               each call for a device's memory takes so long
 *     nvml_outlives=N         a process with N bytes has ended when the list
 *                             that names it is handed over
 *     nvml=unsupported        memory is not supported, as where it is shared
 *     integrated              the devices have the host's memory
 *     spills                  a full device refuses nothing: what is too much
 *                             lies in the host's memory, as under Windows
 *     reserved=N              NVML's total has so much more, used by nobody
 *     nvml=old                only the first version of each function works
 *     nvml=wide               processes of _v3 take 32 bytes, as with 535.43
 *     nvml=hidden             no process is listed, as in a container
 *     nvml=host_pids          their pids are another namespace's: these here
 *                             and SIM_HOST_PIDS
 *     module=N                code that is loaded late: charged to a context
 *                             with its first launch
 *     grow=N@K                charged to it once more with its K-th launch
 *     display=PID             a graphics process whose memory is not known
 *     tenant=PID              a compute process on every device, with
 *     tenant_bytes=N          bytes; not known without this word
 *     tenant_on=N             on the N-th device alone, from 0
 *
 * The rest is a script, read at cuInit. Calls are counted from 1 over all
 * processes that use the state file, also those that ended; "allocation" is
 * any call that takes device memory (managed, pool and graph ones too), also
 * one that fails.
 *     fail_alloc=K            allocation K answers 2 (may be given repeatedly)
 *     fail_from=K             all from K on answer 2
 *     fail_over=N             the first of more than N bytes answers 2
 *     random=SEED,RATE        each answers 2 by that chance (0.05), and the
 *                             same thread's next allocation does not
 *     tenant_grows=N@K        with allocation K somebody unseen takes N bytes
 *                             of its device
 *     latency_us=N            each takes so long
 *     oom_launch=K            launch K (kernel or graph) answers 2
 *     oom_host=K              pinned host allocation or registration K does
 *     oom_module=K            module or library K does
 *     oom_function            every function does that is looked up, as
 *                             where code is loaded when it is asked for
 *     oom_context             every new context does
 *     lost=K                  from the K-th allocation or launch on the device
 *                             is lost: 999, for launches and waits 719
 *     only_rank=R             the script and cuInit's words are for the
 *                             process with RANK=R alone, and count its calls
 *     per_process             calls are counted from each process's start
 */

/* As struct sim_events says; *place moves behind the word. */
const char *sim_words_next(const char *key, const char **place);
void sim_tell_hang(void);

#endif
