/* `autofit doctor`: is all there that autofit needs, and if not, what to do. */
/* SPDX-License-Identifier: MIT */
#include "launcher/doctor/doctor.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "launcher/devices/devices.h"
#include "launcher/doctor/doctor_checks.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/report_answer.h"
#include "launcher/request/exec_command.h"
#include "launcher/request/program_answer.h"
#include "launcher/request/surroundings.h"
#include "launcher/request/versions.h"
#include "probes/isolation/isolation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void check_versions(struct doctor *doctor)
{
	const struct strlist nothing = STRLIST_INIT;
	struct strlist versions = STRLIST_INIT;
	struct utsname kernel = { .release = "" };

	versions_find(&nothing, &versions);
	(void)uname(&kernel);
	doctor_add(doctor, FINDING_GOOD, "versions",
		   "autofit %s, kernel %s%s%s", AUTOFIT_VERSION, kernel.release,
		   versions.count ? ", " : "",
		   versions.count ? versions.items[0] : "");
	strlist_release(&versions);
}

static void check_state(struct doctor *doctor)
{
	struct error err = ERROR_INIT;

	if (paths_make(doctor->paths.records, &err) < 0 ||
	    access(doctor->paths.records, W_OK | X_OK) < 0)
		doctor_add(doctor, FINDING_BAD, "records",
			   "%s: %s; name a folder of yours in AUTOFIT_HOME",
			   doctor->paths.records,
			   err.code ? err.message : strerror(errno));
	else
		doctor_add(doctor, FINDING_GOOD, "records", "%s can be written",
			   doctor->paths.records);
}

static void check_devices(struct doctor *doctor)
{
	struct devices devices;
	char text[BYTES_TEXT_MAX];

	devices_look(&devices, doctor->options, doctor->environment,
		     &host_roots_here);
	for (size_t i = 0; i < devices.gpu_count; i++)
		doctor_add(doctor, FINDING_GOOD, "devices", "%s, %s",
			   devices.gpus[i].gpu.name,
			   bytes_format(text, devices.gpus[i].gpu.total_bytes));
	if (devices.gpu_problem)
		doctor_add(doctor, FINDING_BAD, "devices", "%s",
			   devices.gpu_problem);
	else if (!devices.gpu_count)
		doctor_add(doctor, FINDING_NOTE, "devices",
			   "no GPU: host memory is tuned for");
	if (devices.nvml_problem)
		doctor_add(doctor, FINDING_BAD, "devices",
			   "%s: without it nobody sees who else uses a GPU; "
			   "install the driver's libnvidia-ml.so.1",
			   devices.nvml_problem);
	if (devices.host_problem)
		doctor_add(doctor, FINDING_BAD, "devices", "host memory: %s",
			   devices.host_problem);
	devices_release(&devices);
}

static void check_slurm(struct doctor *doctor)
{
	static const char *const ping[] = { "squeue", "--noheader", "--me",
					    NULL };
	char *job = surroundings_job(doctor->environment);
	struct strbuf answer = STRBUF_INIT;
	bool is_found = exec_command_find("squeue") == 0;
	bool answers = is_found && program_answer(ping, NULL, doctor->state,
						  &answer, NULL) == 0;

	if (!is_found)
		doctor_add(doctor, FINDING_NOTE, "slurm",
			   "squeue is not found: executor = local only");
	else if (!answers && !surroundings_has_slurm(doctor->environment, ""))
		doctor_add(doctor, FINDING_NOTE, "slurm",
			   "its programs are here, but no slurm.conf: executor "
			   "= local only, unless SLURM_CONF names one");
	else if (!answers)
		doctor_add(doctor, FINDING_BAD, "slurm",
			   "it does not answer: %.*s; set SLURM_CONF, or ask "
			   "who runs it",
			   (int)strcspn(strbuf_text(&answer), "\n"),
			   strbuf_text(&answer));
	else
		doctor_add(doctor, FINDING_GOOD, "slurm", "it answers%s%s",
			   job ? "; this is " : "", job ? job : "");
	if (surroundings_is_login_node(doctor->environment, ""))
		doctor_add(doctor, FINDING_NOTE, "slurm",
			   "this looks like a login node: tunings are refused "
			   "here, and autofit nightly submits them");
	strbuf_release(&answer);
	free(job);
}

static void check_isolation(struct doctor *doctor)
{
	char *scratch = xasprintf("%s/autofit-doctor-XXXXXX",
				  getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	char *here = realpath(".", NULL);
	struct strlist nothing = STRLIST_INIT;
	struct isolation_choice choice;
	struct isolation_spec spec = { .kind = ISOLATION_VIEW,
				       .working = here,
				       .shared = &nothing,
				       .guarded = &nothing };
	char *real = here && mkdtemp(scratch) ? realpath(scratch, NULL) : NULL;

	if (!real) {
		doctor_add(doctor, FINDING_BAD, "isolation",
			   "no scratch folder can be made in TMPDIR: name one "
			   "that can be written");
	} else {
		spec.scratch = real;
		isolation_choose(&choice, &spec);
		doctor_add(doctor,
			   choice.kind == ISOLATION_COMPARE ? FINDING_BAD
			   : choice.kind == ISOLATION_VIEW  ? FINDING_GOOD
							    : FINDING_NOTE,
			   "isolation", "%s%s%s%s",
			   isolation_words(choice.kind),
			   choice.why_not[0] ? "; no stronger way: " : "",
			   choice.why_not,
			   choice.kind == ISOLATION_VIEW
				   ? ""
				   : "; allow user namespaces (sysctl "
				     "user.max_user_namespaces)");
		paths_remove_tree(real);
	}
	free(real);
	free(here);
	free(scratch);
}

static doctor_check *const checks[] = {
	check_versions, check_state,   doctor_check_clock, doctor_check_site,
	check_slurm,    check_devices, check_isolation,
};

int doctor_command(const struct options *options,
		   const struct process_state *state)
{
	struct strlist environment = STRLIST_INIT;
	struct doctor doctor = { .options = options,
				 .state = state,
				 .environment = &environment };
	struct error err = ERROR_INIT;
	int code = EXIT_AUTOFIT_FAILED;

	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	if (paths_find(&doctor.paths, &environment, &err) < 0) {
		log_error("%s", err.message);
	} else {
		for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
			checks[i](&doctor);
		code = report_print(&doctor.out, doctor.has_bad
							 ? EXIT_NEEDS_A_LOOK
							 : EXIT_DONE);
	}
	strbuf_release(&doctor.out);
	paths_release(&doctor.paths);
	strlist_release(&environment);
	return code;
}
