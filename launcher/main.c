/* autofit: becomes the training command it is put in front of. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/log.h"
#include "launcher/app.h"
#include "launcher/options/exitcode.h"
#include "probes/process/process_state.h"

#include <locale.h>

int main(int argc, char **argv)
{
	struct process_state state;
	struct error err = ERROR_INIT;

	if (process_state_save(&state, &err) < 0) {
		log_error("%s", err.message);
		return EXIT_AUTOFIT_FAILED;
	}
	(void)setlocale(LC_CTYPE, "");
	return app_run(&state, argc, argv);
}
