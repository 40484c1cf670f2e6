/* `autofit nightly --init`: a commented list to begin with. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/nightly_init.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/report_answer.h"
#include "launcher/request/exec_command.h"
#include "launcher/request/program_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTITIONS_MAX 64

static const char head[] =
	"; Commands for `autofit nightly`, one [job NAME] each. Lines that\n"
	"; begin with ; are comments. Paths are as seen from this file.\n"
	"\n"
	"[nightly]\n"
	"results = nightly        ; summaries, best settings, history\n"
	"; publish = /shared/autofit    ; what users name in AUTOFIT_SITE\n"
	"executor = local         ; jobs run on this machine, one by one\n"
	"; executor = slurm       ; or each is a job of Slurm\n"
	"; at-once = 32           ; so many run at most\n"
	"\n"
	"[defaults]\n"
	"; Any option of `autofit tune`, without its dashes.\n"
	"time-limit = 30m\n"
	"; device = cuda\n"
	"; headroom = 5%\n"
	"; objective = fastest\n"
	"; partition = gpu        ; for Slurm, as are account, constraint, "
	"gres,\n"
	"; time = 1h              ; nodes, ranks, and sbatch = --mem=64G\n"
	"\n"
	"[job example]\n"
	"; As it is typed; long commands go on in indented lines.\n"
	"command = python train.py\n"
	"    --batch-size 8 --grad-accum 16\n"
	"; directory = ..\n"
	"; environment = OMP_NUM_THREADS=4\n"
	"; effective-batch = 128\n"
	"; required = no            ; its failure needs no look\n";

/* The GPU types of "gpu:h100:8(S:0-1),gpu:a100:4", each as a section. */
static void add_types_of(struct strbuf *out, const char *partition,
			 const char *gres, struct strlist *seen)
{
	for (const char *item = gres; *item; item += *item == ',') {
		size_t length = strcspn(item, ",");
		const char *type = item + 4;
		size_t end = strcspn(item, "(,");
		size_t name = length > 4 ? strcspn(type, ":(,") : 0;
		char *text = xasprintf("%.*s", (int)name, type);

		/* "gpu:8" has a number and no type. */
		if (strncmp(item, "gpu:", 4) == 0 && name && 4 + name < end &&
		    strlist_find(seen, text) == seen->count) {
			strlist_add(seen, text);
			strbuf_addf(out,
				    "; [type %s]\n; partition = %.*s\n"
				    "; gres = gpu:%s:1\n",
				    text, (int)strcspn(partition, "*"),
				    partition, text);
		}
		free(text);
		item += length;
	}
}

/* One line of sinfo: partition, GPUs of a node, time limit, nodes. */
static void add_partition(struct strbuf *out, struct strbuf *types,
			  const char *line, struct strlist *seen)
{
	struct strlist words = STRLIST_INIT;
	struct strbuf safe = STRBUF_INIT;

	text_add_safe(&safe, line, true);
	strbuf_addf(out, ";   %s\n", strbuf_text(&safe));
	strlist_add_words(&words, strbuf_text(&safe));
	if (words.count == 4)
		add_types_of(types, words.items[0], words.items[1], seen);
	strlist_release(&words);
	strbuf_release(&safe);
}

/* What Slurm says of the cluster, as comments. */
static void add_partitions(struct strbuf *out,
			   const struct process_state *state)
{
	static const char *const sinfo[] = { "sinfo", "--noheader",
					     "--format=%P %G %l %D", NULL };
	struct strbuf answer = STRBUF_INIT, types = STRBUF_INIT;
	struct strlist seen = STRLIST_INIT;
	const char *at;

	if (exec_command_find("sinfo") != 0 ||
	    program_answer(sinfo, NULL, state, &answer, NULL) != 0) {
		strbuf_release(&answer);
		return;
	}
	strbuf_adds(out, "\n; Partitions here: name, GPUs of a node, time, "
			 "nodes\n");
	at = strbuf_text(&answer);
	for (int i = 0; i < PARTITIONS_MAX && *at; i++) {
		size_t length = strcspn(at, "\n");
		char *line = xasprintf("%.*s", (int)length, at);

		add_partition(out, &types, line, &seen);
		free(line);
		at += length;
		at += *at == '\n';
	}
	if (types.length)
		strbuf_addf(out,
			    "; With executor = slurm, and in [defaults] types "
			    "= %s, for one:\n%s",
			    seen.items[0], strbuf_text(&types));
	strlist_release(&seen);
	strbuf_release(&types);
	strbuf_release(&answer);
}

static int write_new(const char *path, const struct strbuf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int result =
		fd < 0 ? -errno
		       : file_write_all(fd, strbuf_text(text), text->length);

	if (fd >= 0 && close(fd) < 0 && result == 0)
		result = -errno;
	if (result == 0)
		return EXIT_DONE;
	log_error("cannot write %s: %s%s", path, strerror(-result),
		  result == -EEXIST ? "; name a new file" : "");
	return EXIT_AUTOFIT_FAILED;
}

int nightly_init(const struct options *options,
		 const struct process_state *state)
{
	struct strbuf text = STRBUF_INIT;
	int code;

	strbuf_adds(&text, head);
	add_partitions(&text, state);
	code = options->import_file ? write_new(options->import_file, &text)
				    : report_print(&text, EXIT_DONE);
	strbuf_release(&text);
	return code;
}
