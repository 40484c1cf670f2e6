/* Trains on a simulated GPU: takes device memory as PyTorch would. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"

#include <stdlib.h>

static int run(struct trainer *trainer)
{
	ranks_join(trainer);
	if (trainer->options.ignore_gpu)
		return train_on_host(trainer);
	return train(trainer);
}

int main(int argc, char **argv)
{
	struct trainer *trainer = calloc(1, sizeof(*trainer));
	int status;

	if (!trainer || argc < 1)
		return 1;
	trainer->argv = argv;
	trainer->options = options_parse(argv);
	trainer->is_dry = trainer->options.print_need;
	if (trainer->options.ranks && !trainer->is_dry &&
	    !getenv("SIM_TRAINER_BARRIER"))
		status = ranks_launch(trainer, run);
	else
		status = run(trainer);
	free(trainer->host);
	free(trainer->blocks);
	free(trainer);
	return status;
}
