/* `autofit nightly --init`: a commented list to begin with. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/nightly_init.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/report_answer.h"
#include "launcher/request/exec_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SINFO "sinfo --noheader --format='%P %G %l %D'"
#define PARTITIONS_MAX 64

static const char head[] =
	"; Commands for `autofit nightly`, one [job NAME] each. Lines that\n"
	"; begin with ; are comments. Paths are as seen from this file.\n"
	"\n"
	"[nightly]\n"
	"results = nightly        ; summaries, best settings, history\n"
	"; publish = /shared/autofit    ; what users name in AUTOFIT_SITE\n"
	"executor = local         ; jobs run on this machine, one by one\n"
	"\n"
	"[defaults]\n"
	"; Any option of `autofit tune`, without its dashes.\n"
	"time-limit = 30m\n"
	"; device = cuda\n"
	"; headroom = 5%\n"
	"; objective = fastest\n"
	"\n"
	"[job example]\n"
	"; As it is typed; long commands go on in indented lines.\n"
	"command = python train.py\n"
	"    --batch-size 8 --grad-accum 16\n"
	"; directory = ..\n"
	"; environment = OMP_NUM_THREADS=4\n"
	"; effective-batch = 128\n"
	"; required = no            ; its failure needs no look\n";

/* What Slurm says of the cluster, as comments. */
static void add_partitions(struct strbuf *out)
{
	FILE *stream = NULL;
	char line[256];

	if (exec_command_find("sinfo") == 0)
		stream = popen(SINFO " 2>/dev/null", "re"); /* NOLINT */
	if (!stream)
		return;
	strbuf_adds(out, "\n; Partitions here: name, GPUs, time, nodes\n");
	for (int i = 0; i < PARTITIONS_MAX && fgets(line, sizeof(line), stream);
	     i++) {
		line[strcspn(line, "\n")] = '\0';
		strbuf_adds(out, ";   ");
		text_add_safe(out, line, true);
		strbuf_adds(out, "\n");
	}
	(void)pclose(stream);
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

int nightly_init(const struct options *options)
{
	struct strbuf text = STRBUF_INIT;
	int code;

	strbuf_adds(&text, head);
	add_partitions(&text);
	code = options->import_file ? write_new(options->import_file, &text)
				    : report_print(&text, EXIT_DONE);
	strbuf_release(&text);
	return code;
}
