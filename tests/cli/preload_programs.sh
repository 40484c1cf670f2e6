#!/usr/bin/env bash
# The preload library changes nothing in any program, whatever its language.
# SPDX-License-Identifier: MIT

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

: "${BUILD:?the build folder}" "${SOURCE:?the source folder}"
export BUILD SOURCE
PRELOAD=$BUILD/libautofit_preload.so
[ -r "$PRELOAD" ] || {
	echo "no $PRELOAD"
	exit 1
}
# A program of another test run may bring its own.
unset LD_PRELOAD LD_LIBRARY_PATH LD_BIND_NOW

# unchanged NAME COMMAND...: what it prints, and how it ends.
unchanged() {
	local name=$1 mode

	shift
	for mode in bare loaded; do
		if [ "$mode" = loaded ]; then
			LD_PRELOAD=$PRELOAD "$@" >"$mode.out" 2>"$mode.err" </dev/null
		else
			"$@" >"$mode.out" 2>"$mode.err" </dev/null
		fi
		echo "exit $?" >>"$mode.out"
	done
	same "$name: output and exit status" loaded.out bare.out
	same "$name: errors" loaded.err bare.err
	is "$name: says nothing else" "$(cat loaded.err)" ""
}

# known NAME PROGRAM: or says that this machine has none.
known() {
	command -v "$2" >/dev/null 2>&1 && return 0
	echo "# left out: $1, there is no $2"
	return 1
}

mkdir tree && git -C tree init -q 2>/dev/null
# shellcheck disable=SC2016 # for the inner shell
unchanged bash bash -c 'x=$(printf %s "$(echo a | tr a b)"); echo "$x"; exit 3'
# shellcheck disable=SC2016
unchanged "bash, bound at once" env LD_BIND_NOW=1 bash -c 'echo $((6 * 7))'
# shellcheck disable=SC2016
unchanged "sh and a pipe" sh -c 'ls / | sort | head -n 3; kill -0 $$'
unchanged "names of users" ls -ld /
known git git && unchanged git git -C tree status --porcelain=v2 --branch
known gdb gdb && unchanged gdb gdb --nx --batch -ex 'print 6 * 7' "$(command -v true)"
known perl perl && unchanged perl perl -MPOSIX -MList::Util=sum \
	-e 'print sum(1, 2), " ", POSIX::floor(2.5), "\n"; exit 4'
known Java java && unchanged java java -XX:-UsePerfData --version
known Node node && unchanged node node -e 'console.log([1, 2].map(x => x * 2)); process.exit(5)'
known Go go && unchanged go go version
python=/usr/bin/python3
if "$python" -c 'import torch' 2>/dev/null; then
	unchanged torch "$python" -c 'import torch, sys
a = torch.arange(12.0).reshape(3, 4)
print((a @ a.T).sum().item(), torch.cuda.is_available(), torch.get_num_threads() > 0)
sys.exit(6)'
else
	echo "# left out: torch, $python has none"
fi
unchanged python "$python" -c 'import ctypes, json, socket, sqlite3, ssl
print(ctypes.CDLL(None).getpid() > 0, json.dumps(1))'

# --- the CUDA runtime -------------------------------------------------------

toolkit=${CUDA_HOME:-/usr/local/cuda}
compiler=${CC:-cc}
if ! [ -r "$toolkit/include/cuda_runtime_api.h" ]; then
	echo "# left out: the CUDA runtime, no toolkit is in $toolkit"
	finish
fi

# In front of the simulated driver: it has an answer for every name, as the
# runtime wants, and says who asks for the memory of a device. The runtime
# goes no further than that with it.
mkdir driver
cat >driver/driver.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long flag;
static void *simulated(const char *name)
{
	static void *driver;
	if (!driver && !(driver = dlopen(getenv("SIMULATED"), RTLD_NOW)))
		abort();
	return dlsym(driver, name);
}
static int nothing(void) { return 801; }
static int zero(void) { return 0; }
static int total(size_t *bytes, int device)
{
	Dl_info caller = { 0 };
	dladdr(__builtin_return_address(0), &caller);
	dprintf(2, "asked by %s\n", strrchr(caller.dli_fname, '/') + 1);
	return ((int (*)(size_t *, int))simulated("cuDeviceTotalMem_v2"))(bytes, device);
}
static int tables(const void **table, const void *id)
{
	static void *all[256];
	int i;
	for (i = 1; i < 256; i++)
		all[i] = zero;
	all[0] = (void *)sizeof(all);
	*table = all;
	return id ? 0 : 1;
}
int cuGetProcAddress_v2(const char *name, void **answer, int version, flag flags, int *status)
{
	int result = ((int (*)(const char *, void **, int, flag, int *))
		simulated("cuGetProcAddress_v2"))(name, answer, version, flags, status);
	if (result || !answer)
		return result;
	if (!strcmp(name, "cuGetProcAddress"))
		*answer = version < 12000 ? NULL : cuGetProcAddress_v2;
	if (!strcmp(name, "cuDeviceTotalMem"))
		*answer = total;
	if (!strcmp(name, "cuGetExportTable"))
		*answer = tables;
	if (!*answer)
		*answer = nothing;
	return 0;
}
END
cat >runtime.c <<'END'
#include <cuda_runtime_api.h>
#include <stdio.h>
int main(void)
{
	int count = -1, first = cudaGetDeviceCount(&count);
	void *memory = NULL;
	int second = cudaMalloc(&memory, 1 << 20);
	printf("%d %d %d\n", first, count, second);
	return 0;
}
END
"$compiler" -D_GNU_SOURCE -O1 -shared -fPIC -Wl,-Bsymbolic \
	-Wl,-soname,libcuda.so.1 -o driver/libcuda.so.1 driver/driver.c -ldl &&
	"$compiler" -I"$toolkit/include" -o runtime_shared runtime.c \
		-L"$toolkit/lib64" -lcudart -Wl,-rpath,"$toolkit/lib64" &&
	"$compiler" -I"$toolkit/include" -o runtime_static runtime.c \
		-L"$toolkit/lib64" -lcudart_static -ldl -lrt -lpthread
is "the CUDA runtime: builds" "$?" 0
export SIMULATED=$BUILD/sim/libcuda.so.1 AUTOFIT_SIM_DEVICES="Sim:8589934592:0"
export AUTOFIT_SIM_STATE=$TMP/simulated

# page NAME: with a cap, so that the answer is not the driver's alone.
page() {
	PYTHONPATH=$SOURCE/tests/cli/helpers \
		"$python" -c 'import preload_page as p, sys
p.write_page(sys.argv[1], p.empty_page([(1 << 32, 0)]))' "$1"
}

for kind in static shared; do
	for switch in 1 0; do
		rm -f simulated
		page channel
		run env LD_LIBRARY_PATH="$TMP/driver" "./runtime_$kind"
		bare=$out/$status
		run env LD_LIBRARY_PATH="$TMP/driver" LD_PRELOAD="$PRELOAD" \
			AUTOFIT_CHANNEL="$TMP/channel" AUTOFIT_HOOK="$switch" \
			"./runtime_$kind"
		is "$kind runtime, hooks $switch: answers as without" \
			"$out/$status" "$bare"
		case $kind$switch in
		*1) wanted='libautofit_preload.so' ;;
		static0) wanted='runtime_static' ;;
		shared0) wanted='libcudart\.so\.[0-9.]*' ;;
		esac
		like "$kind runtime, hooks $switch: asks for the memory" \
			"$(sort -u <<<"$err")" "^asked by $wanted\$"
	done
done
finish
