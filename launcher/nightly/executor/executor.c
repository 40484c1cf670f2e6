/* What both executors share of a task. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/executor/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void executor_task_end(struct executor_task *task, char *message)
{
	free(task->message);
	task->message = message;
	task->has_ended = true;
}

void executor_task_tell(struct executor_task *task, const char *state,
			const char *node)
{
	(void)snprintf(task->state, sizeof(task->state), "%s", state);
	(void)snprintf(task->node, sizeof(task->node), "%s", node);
}

void executor_task_release(struct executor_task *task)
{
	strlist_release(&task->arguments);
	free(task->json);
	free(task->log);
	free(task->message);
	memset(task, 0, sizeof(*task));
}

void executor_release(struct executor *executor)
{
	strbuf_release(&executor->queue);
}
