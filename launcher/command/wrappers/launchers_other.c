/* Programs that hide what they start, or start it where nobody can look. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/launchers.h"

#include "launcher/command/wrappers/launchers_rows.h"

#define IN_THE_JOB                                                             \
	"it returns before anything has run: put autofit in front of the "     \
	"training command inside the job script"
#define NOT_ALONE                                                              \
	"it starts commands of its own choice: put autofit in front of the "   \
	"training command itself"
#define MEASURES                                                               \
	"it changes the time and memory that are measured: leave it out"
#define RANKS_UNKNOWN                                                          \
	"the ranks it starts cannot be counted here: start them with "         \
	"torchrun or accelerate launch"

const struct launcher launchers_other[] = {
	{ .names = NAMES("docker", "podman", "nerdctl", "docker-compose",
			 "podman-compose", "apptainer", "singularity", "enroot",
			 "udocker", "shifter", "ch-run", "distrobox"),
	  .kind = LAUNCHER_OPAQUE,
	  .outside = true,
	  .advice = "start autofit inside the container, in front of the "
		    "training command" },
	{ .names = NAMES("make", "gmake", "just", "tox", "nox", "invoke", "inv",
			 "doit", "npm", "npx", "yarn", "pnpm", "dvc", "mlflow",
			 "snakemake", "nextflow", "bazel", "uvx", "pipx",
			 "busybox", "direnv", "dotenv", "fish", "csh", "tcsh"),
	  .kind = LAUNCHER_OPAQUE,
	  .advice = "put autofit in front of the training command itself" },
	{ .names = NAMES("sbatch", "qsub", "bsub", "oarsub", "condor_submit",
			 "dsub"),
	  .kind = LAUNCHER_OTHER,
	  .outcome = COMMAND_REFUSED,
	  .advice = IN_THE_JOB },
	{ .names = NAMES("salloc", "sudo", "doas", "su", "runuser"),
	  .kind = LAUNCHER_OTHER,
	  .outcome = COMMAND_REFUSED,
	  .advice = IN_FRONT },
	{ .names = NAMES("ssh", "pdsh", "kubectl", "oc", "aws", "gcloud", "az",
			 "sky", "modal", "ray", "torchx", "runai", "jsrun",
			 "aprun", "flux", "screen", "tmux", "systemd-run"),
	  .kind = LAUNCHER_OTHER,
	  .outcome = COMMAND_REFUSED,
	  .advice = INSIDE },
	{ .names = NAMES("xargs", "parallel", "watch", "watchexec", "entr"),
	  .kind = LAUNCHER_OTHER,
	  .outcome = COMMAND_NOT_RECOGNISED,
	  .advice = NOT_ALONE },
	{ .names = NAMES("nsys", "ncu", "nvprof", "rocprof", "perf", "strace",
			 "ltrace", "gdb", "cuda-gdb", "compute-sanitizer",
			 "valgrind", "py-spy", "memray", "scalene", "kernprof",
			 "viztracer"),
	  .modules = NAMES("cProfile", "profile", "pdb", "memory_profiler",
			   "memray", "scalene", "kernprof", "viztracer",
			   "coverage", "debugpy"),
	  .kind = LAUNCHER_OTHER,
	  .outcome = COMMAND_NOT_RECOGNISED,
	  .advice = MEASURES },
	{ .names = NAMES("colossalai", "msrun"),
	  .modules = NAMES("deepspeed.launcher.launch",
			   "torch_xla.distributed.xla_dist",
			   "torch_xla.distributed.xla_spawn"),
	  .kind = LAUNCHER_OTHER,
	  .outcome = COMMAND_NOT_RECOGNISED,
	  .advice = RANKS_UNKNOWN },
	{ .names = NULL },
};
