/* Lines that tell of a refused write, as programs print them, and others. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/output/refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Lines of Python 3.11, torch 1.13, coreutils 9.1, bash 5.2, dash 0.5.12, git
 * 2.39, rustc 1.8x, libstdc++ 12, node, OpenJDK 17 and perl were printed by
 * these, in a folder without permission and on a read-only mount. */
static const struct {
	const char *line, *path;
} refused[] = {
	/* Python */
	{ "PermissionError: [Errno 13] Permission denied: '/data/x.txt'",
	  "/data/x.txt" },
	{ "PermissionError: [Errno 13] Permission denied: 'ckpt.pt'",
	  "ckpt.pt" },
	{ "OSError: [Errno 30] Read-only file system: '/data/ckpt.pt'",
	  "/data/ckpt.pt" },
	{ "PermissionError: [Errno 1] Operation not permitted: '/data'",
	  "/data" },
	{ "PermissionError: [Errno 13] Permission denied: '/d/a' -> '/d/b'",
	  "/d/b" },
	{ "OSError: [Errno 30] Read-only file system: 'a b' -> 'c d'", "c d" },
	{ "PermissionError: [Errno 13] Permission denied: "
	  "'/ro/it\\'s \"q\" x'",
	  "/ro/it's \"q\" x" },
	{ "PermissionError: [Errno 13] Permission denied: \"it's\"", "it's" },
	{ "PermissionError: [Errno 13] Permission denied: b'/ro/x.txt'",
	  "/ro/x.txt" },
	{ "OSError: [Errno 30] Read-only file system", "" },
	{ "ERROR: Could not install packages due to an OSError: [Errno 13] "
	  "Permission denied: '/usr/lib/x'",
	  "/usr/lib/x" },
	{ "mkdir -p failed for path /root/.config/matplotlib: [Errno 13] "
	  "Permission denied: '/root/.config/matplotlib'",
	  "/root/.config/matplotlib" },
	{ "shutil.Error: [('src/f', 'dst/f', \"[Errno 13] Permission denied: "
	  "'dst/f'\")]",
	  "dst/f" },
	{ "[rank0]: PermissionError: [Errno 13] Permission denied: '/out'",
	  "/out" },
	{ "2025-01-02 10:00:00,123 ERROR save failed: [Errno 30] Read-only "
	  "file system: 'out/model.bin'",
	  "out/model.bin" },
	{ "train.py: error: argument --log: can't open 'run.log': [Errno 13] "
	  "Permission denied: 'run.log'",
	  "run.log" },
	/* torch, TensorFlow, h5py, safetensors */
	{ "RuntimeError: File /ro/ckpt.pt cannot be opened.", "/ro/ckpt.pt" },
	{ "RuntimeError: File my model.pt cannot be opened.", "my model.pt" },
	{ "tensorflow.python.framework.errors_impl.PermissionDeniedError: "
	  "/models; Permission denied [Op:SaveV2]",
	  "/models" },
	{ "2019-04-04 13:09:09.579104: W tensorflow/core/framework/"
	  "op_kernel.cc:1273] OP_REQUIRES failed at save_restore_v2_ops.cc:109 "
	  ": Permission denied: /models; Permission denied",
	  "/models" },
	{ "FailedPreconditionError: ./logs; Read-only file system", "./logs" },
	{ "OSError: Unable to create file (unable to open file: name = "
	  "'model_data/yolo.h5', errno = 13, error message = 'Permission "
	  "denied', flags = 13, o_flags = 242)",
	  "model_data/yolo.h5" },
	{ "safetensors_rust.SafetensorError: Error while serializing: "
	  "IoError(Os { code: 13, kind: PermissionDenied, message: "
	  "\"Permission denied\" })",
	  "" },
	{ "safetensors_rust.SafetensorError: Error while serializing: I/O "
	  "error: Permission denied (os error 13)",
	  "" },
	/* coreutils and others */
	{ "touch: cannot touch '/root/x': Permission denied", "/root/x" },
	{ "touch: cannot touch \"it's\": Permission denied", "it's" },
	{ "mkdir: cannot create directory \xe2\x80\x98/ro/a\xe2\x80\x99: "
	  "Permission denied",
	  "/ro/a" },
	{ "cp: cannot create regular file 'z': Read-only file system", "z" },
	{ "tee: ro/zz: Read-only file system", "ro/zz" },
	{ "rm: cannot remove 'here': Permission denied", "here" },
	{ "mv: cannot move 'here' to 'there': Permission denied", "there" },
	{ "ln: failed to create symbolic link 'b': Permission denied", "b" },
	{ "dd: failed to open 'dd': Permission denied", "dd" },
	{ "truncate: cannot open 'tr' for writing: Permission denied", "tr" },
	{ "chmod: changing permissions of '.': Operation not permitted", "." },
	{ "chown: changing ownership of 'here': Operation not permitted",
	  "here" },
	{ "sed: couldn't open temporary file ./sedS0zWpG: Permission denied",
	  "./sedS0zWpG" },
	{ "tar: t.tar: Cannot open: Permission denied", "t.tar" },
	{ "gzip: here.gz: Permission denied", "here.gz" },
	{ "fatal: cannot mkdir g: Permission denied", "g" },
	{ "fatal: could not create work tree dir '/data/r': Permission denied",
	  "/data/r" },
	{ "Warning: Failed to open the file zz: Permission denied", "zz" },
	/* shells */
	{ "w.sh: line 2: f1: Permission denied", "f1" },
	{ "./run.sh: line 13: my log.txt: Read-only file system",
	  "my log.txt" },
	{ "bash: /root/x: Permission denied", "/root/x" },
	{ "sh: 1: cannot create ro/x: Read-only file system", "ro/x" },
	{ "dash: 1: cannot create x: Permission denied", "x" },
	{ "zsh: permission denied: /root/x", "/root/x" },
	{ "zsh: read-only file system: out.log", "out.log" },
	/* C and C++ */
	{ "terminate called after throwing an instance of "
	  "'std::filesystem::filesystem_error'   what():  filesystem error: "
	  "cannot create directories: Permission denied [/ro/a/b]",
	  "/ro/a/b" },
	{ "  what():  filesystem error: cannot copy file: Read-only file "
	  "system [/etc/hostname] [/ro/h]",
	  "/ro/h" },
	{ "  what():  open /ro/x: Permission denied", "/ro/x" },
	{ "fopen: Permission denied", "" },
	{ "/ro/x: Read-only file system", "/ro/x" },
	{ "lmdb.Error: /ro/db: Permission denied", "/ro/db" },
	/* Go, Rust, node, Java, perl */
	{ "panic: open /data/run.wandb: permission denied", "/data/run.wandb" },
	{ "2025/01/02 10:00:00 mkdir out: read-only file system", "out" },
	{ "wandb-core: failed to create log: open log.txt: permission denied",
	  "log.txt" },
	{ "unlinkat /data/x: operation not permitted", "/data/x" },
	{ "error: failed to write /ro/x: Permission denied (os error 13)",
	  "/ro/x" },
	{ "Error: Os { code: 30, kind: ReadOnlyFilesystem, message: "
	  "\"Read-only file system\" }",
	  "" },
	{ "    Permission denied (os error 13)", "" },
	{ "Error: EACCES: permission denied, open '/ro/x'", "/ro/x" },
	{ "Error: EROFS: read-only file system, rename '/a' -> '/b'", "/b" },
	{ "java.io.FileNotFoundException: /ro/x (Read-only file system)",
	  "/ro/x" },
	{ "java.nio.file.FileSystemException: /ro/x: Read-only file system",
	  "/ro/x" },
	{ "Cannot open /ro/x: Permission denied at -e line 1.", "/ro/x" },
	{ "OSError: [Errno 30] Read-only file system: '/dev/shm/x'",
	  "/dev/shm/x" },
	/* what the layers of a view cannot do */
	{ "OSError: [Errno 18] Invalid cross-device link: 'ckpt' -> "
	  "'/out/ckpt.old'",
	  "/out/ckpt.old" },
	{ "OSError: [Errno 18] Invalid cross-device link: 'a' -> 'b'", "b" },
	{ "warning: not saved: [Errno 18] Invalid cross-device link: "
	  "b'a' -> b'b'",
	  "b" },
	{ "ln: failed to create hard link 'b': Invalid cross-device link",
	  "b" },
	{ "panic: rename out out.old: invalid cross-device link", "out.old" },
	{ "2025/01/02 10:00:00 rename /a/x /b/x: invalid cross-device link",
	  "/b/x" },
	{ "rename /a/x /b/x: permission denied", "/b/x" },
	{ "Error: EXDEV: cross-device link not permitted, rename '/a' -> '/b'",
	  "/b" },
	{ "  what():  filesystem error: cannot rename: Invalid cross-device "
	  "link [a] [b]",
	  "b" },
	{ "Error: Invalid cross-device link (os error 18)", "" },
	{ "rename: Invalid cross-device link", "" },
	{ "java.nio.file.AtomicMoveNotSupportedException: /a -> /b: Invalid "
	  "cross-device link",
	  "/b" },
	{ "OSError: [Errno 75] Value too large for defined data type: "
	  "'/data/group.log'",
	  "/data/group.log" },
	{ "tee: /data/x: Value too large for defined data type", "/data/x" },
	{ "touch: cannot touch 'x': Value too large for defined data type",
	  "x" },
	{ "OSError: [Errno 16] Device or resource busy: '/dev/shm/a' -> "
	  "'/dev/shm/b'",
	  "/dev/shm/b" },
	{ "rm: cannot remove '/dev/shm/b': Device or resource busy",
	  "/dev/shm/b" },
	/* databases */
	{ "sqlite3.OperationalError: attempt to write a readonly database",
	  "" },
	{ "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) attempt "
	  "to write a readonly database",
	  "" },
	{ "sqlite3.OperationalError: unable to open database file", "" },
	{ "(sqlite3.OperationalError) unable to open database file", "" },
	{ "Error: in prepare, attempt to write a readonly database (8)", "" },
	{ "Error: unable to open database file: out/steps.db", "" },
	{ "Some(\"attempt to write a readonly database\")))", "" },
	/* files of the user's by a detour */
	{ "PermissionError: [Errno 13] Permission denied: "
	  "'/proc/self/cwd/ckpt.pt'",
	  "/proc/self/cwd/ckpt.pt" },
	{ "OSError: [Errno 30] Read-only file system: '/proc/self/root/x/y'",
	  "/proc/self/root/x/y" },
	{ "sh: 1: cannot create /proc/4711/cwd/x: Permission denied",
	  "/proc/4711/cwd/x" },
	{ "PermissionError: [Errno 13] Permission denied: "
	  "'/proc/self/fd/3/ckpt.pt'",
	  "/proc/self/fd/3/ckpt.pt" },
	{ "touch: cannot touch '/proc/thread-self/cwd/x': Permission denied",
	  "/proc/thread-self/cwd/x" },
};

static const struct {
	const char *line;
} innocent[] = {
	{ "" },
	{ "Permission denied" },
	{ "permission" },
	{ "step 3: loss 2.0" },
	{ "git@github.com: Permission denied (publickey)." },
	{ "Permission denied (publickey,password)." },
	{ "Permission denied, please try again." },
	{ "google.api_core.exceptions.PermissionDenied: 403 Permission denied "
	  "on resource project x" },
	{ "psycopg2.errors.InsufficientPrivilege: permission denied for table "
	  "t" },
	{ "Got permission denied while trying to connect to the Docker daemon "
	  "socket at unix:///var/run/docker.sock: dial unix "
	  "/var/run/docker.sock: connect: permission denied" },
	{ "fork/exec ./train: permission denied" },
	{ "setpriv: failed to execute ./a.cc: Permission denied" },
	{ "RuntimeError: CUDA error: operation not permitted" },
	{ "RuntimeError: CUDA error: operation not permitted when stream is "
	  "capturing" },
	{ "set_mempolicy: Operation not permitted" },
	{ "setting membind: Operation not permitted" },
	{ "get_mempolicy: Operation not permitted" },
	{ "dmesg: read kernel buffer failed: Operation not permitted" },
	{ "taskset: failed to set pid 1's affinity: Operation not permitted" },
	{ "nice: cannot set niceness: Permission denied" },
	{ "kill: (1): Operation not permitted" },
	{ "bind: Permission denied" },
	{ "perf_event_open: Permission denied" },
	{ "PermissionError: [Errno 13] Permission denied" },
	{ "PermissionError: [Errno 1] Operation not permitted" },
	{ "cat: /etc/shadow: Permission denied" },
	{ "ls: cannot open directory '/root': Permission denied" },
	{ "cp: cannot open '/etc/shadow' for reading: Permission denied" },
	{ "find: \xe2\x80\x98/root\xe2\x80\x99: Permission denied" },
	{ "grep: /etc/shadow: Permission denied" },
	{ "du: cannot read directory '/root': Permission denied" },
	{ "w.sh: line 2: cd: /root: Permission denied" },
	{ "open file failed because of errno 13 on fopen: Permission denied, "
	  "file path: model.pt" },
	{ "PermissionError: [Errno 13] Permission denied: '/dev/kfd'" },
	{ "sh: 1: cannot create /proc/sys/vm/x: Permission denied" },
	{ "OSError: [Errno 30] Read-only file system: '/sys/fs/cgroup/x'" },
	{ "INFO the data are on a read-only file system" },
	{ "the folder is a read-only file system, as it should be" },
	{ "FileNotFoundError: [Errno 2] No such file or directory: 'x'" },
	{ "OSError: [Errno 28] No space left on device: '/data/x'" },
	{ "sh: 1: cannot create /proc/self/fd/1: Permission denied" },
	{ "sh: 1: cannot create /proc/self/oom_score_adj: Permission denied" },
	{ "sh: 1: cannot create /proc/root: Permission denied" },
	{ "OSError: [Errno 16] Device or resource busy: '/dev/video0'" },
	{ "rm: cannot remove '.nfs0001': Device or resource busy" },
	{ "RuntimeError: CUDA error: all CUDA-capable devices are busy or "
	  "unavailable" },
	{ "OverflowError: Value too large for defined data type" },
	{ "RuntimeError: Value too large for defined data type" },
	{ "a move over an invalid cross-device link copies the file" },
	{ "we attempt to write a readonly database and fail" },
	{ "INFO unable to open database file pool, retrying" },
	{ "the door cannot be opened." },
	{ "kind: PermissionDenied" },
};

static void refused_writes_are_told(void **state)
{
	char path[REFUSAL_PATH_MAX];

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const char *line = refused[i].line;

		if (!refusal_line(*state, line, strlen(line), path))
			fail_msg("not seen: %s", line);
		if (strcmp(path, refused[i].path) != 0)
			fail_msg("%s: '%s', not '%s'", line, path,
				 refused[i].path);
	}
}

/* Wherever in the line it stands. */
static void any_place_will_do(void **state)
{
	char path[REFUSAL_PATH_MAX];
	char line[1024];

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		for (int blanks = 1; blanks <= 4; blanks++) {
			int length = snprintf(line, sizeof(line), "%*s%s",
					      blanks, "", refused[i].line);

			if (!refusal_line(*state, line, (size_t)length, path) ||
			    strcmp(path, refused[i].path) != 0)
				fail_msg("'%s' in '%s'", path, line);
		}
}

static void other_lines_are_not(void **state)
{
	char path[REFUSAL_PATH_MAX];

	for (size_t i = 0; i < sizeof(innocent) / sizeof(*innocent); i++)
		if (refusal_line(*state, innocent[i].line,
				 strlen(innocent[i].line), path))
			fail_msg("'%s' in: %s", path, innocent[i].line);
}

/* Lines end where they end: no byte behind is read, none of a longer name
 * written. The sanitizer watches. */
static void any_cut_is_harmless(void **state)
{
	char path[REFUSAL_PATH_MAX];

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		size_t length = strlen(refused[i].line);

		for (size_t cut = 0; cut <= length; cut++) {
			char *copy = malloc(cut ? cut : 1);

			assert_non_null(copy);
			memcpy(copy, refused[i].line, cut);
			(void)refusal_line(*state, copy, cut, path);
			assert_true(strlen(path) < REFUSAL_PATH_MAX);
			free(copy);
		}
	}
}

static void a_long_name_is_cut(void **state)
{
	static const char start[] =
		"PermissionError: [Errno 13] Permission denied: '/";
	const size_t length = 100000;
	char *line = malloc(length);
	char path[REFUSAL_PATH_MAX];

	assert_non_null(line);
	memset(line, 'a', length);
	memcpy(line, start, sizeof(start) - 1);
	line[length - 1] = '\'';
	assert_true(refusal_line(*state, line, length, path));
	assert_int_equal(strlen(path), REFUSAL_PATH_MAX - 1);
	assert_memory_equal(path, "/aaa", 4);
	/* Many places where it could be, and none where it is. */
	for (size_t i = 0; i < length; i++)
		line[i] = "permission denied   "[i % 20];
	assert_false(refusal_line(*state, line, length, path));
	free(line);
}

static int make(void **state)
{
	*state = refusal_make();
	return 0;
}

static int release(void **state)
{
	refusal_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_writes_are_told),
		cmocka_unit_test(any_place_will_do),
		cmocka_unit_test(other_lines_are_not),
		cmocka_unit_test(any_cut_is_harmless),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, make, release);
}
