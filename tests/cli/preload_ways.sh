#!/usr/bin/env bash
# Every way in which programs reach a driver ends at the preload library, and
# the program notices nothing: with drivers made for it, on each processor.
# SPDX-License-Identifier: MIT

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

: "${BUILD:?the build folder}" "${SOURCE:?the source folder}"
OURS=libautofit_preload.so
unset LD_PRELOAD LD_LIBRARY_PATH LD_BIND_NOW
compiler=${CC:-cc}
command -v "$compiler" >/dev/null || skip_all "there is no compiler"

# --- what is built ----------------------------------------------------------

# A driver that knows its NUMBER, and has for one name what headers of later
# versions and what later drivers have.
driver_source='
#include <stddef.h>
#include <string.h>
#define OK(name) int name(void) { return 0; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { *f = 0; *t = NUMBER; return 0; }
OK(cuInit) OK(cuMemAlloc) OK(cuMemAlloc_v2) OK(cuMemFree_v2)
OK(cuLaunchKernel) OK(cuLaunchKernel_ptsz) OK(cuGraphInstantiate)
OK(cuGraphInstantiate_v2) OK(cuGraphInstantiateWithFlags)
static OK(cuMemFree_v3)
#ifndef OLD
int cuGetProcAddress(const char *, void **, int, unsigned long long);
int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);
static const struct { const char *base; int version, stream; void *function; }
rows[] = {
	{ "cuInit", 2000, 0, cuInit },
	{ "cuMemAlloc", 2000, 0, cuMemAlloc },
	{ "cuMemAlloc", 3020, 0, cuMemAlloc_v2 },
	{ "cuMemFree", 3020, 0, cuMemFree_v2 },
	{ "cuMemFree", 14000, 0, cuMemFree_v3 },
	{ "cuMemGetInfo", 3020, 0, cuMemGetInfo_v2 },
	{ "cuLaunchKernel", 4000, 0, cuLaunchKernel },
	{ "cuLaunchKernel", 7000, 2, cuLaunchKernel_ptsz },
	{ "cuGraphInstantiate", 10000, 0, cuGraphInstantiate },
	{ "cuGraphInstantiate", 11000, 0, cuGraphInstantiate_v2 },
	{ "cuGraphInstantiate", 12000, 0, cuGraphInstantiateWithFlags },
	{ "cuGraphInstantiateWithFlags", 11040, 0, cuGraphInstantiateWithFlags },
	{ "cuGetProcAddress", 11030, 0, cuGetProcAddress },
	{ "cuGetProcAddress", 12000, 0, cuGetProcAddress_v2 },
};
int cuGetProcAddress_v2(const char *name, void **answer, int version,
			unsigned long long flags, int *status)
{
	int best[2] = { -1, -1 }, row, i;
	if (!name || !answer || version > 14000)
		return 1;
	for (i = 0; i < (int)(sizeof(rows) / sizeof(*rows)); i++)
		if (!strcmp(rows[i].base, name) && rows[i].version <= version)
			best[rows[i].stream == 2] = i;
	row = flags == 2 && best[1] >= 0 ? best[1] : best[0];
	*answer = row < 0 ? NULL : rows[row].function;
	if (status)
		*status = row < 0;
	return 0;
}
int cuGetProcAddress(const char *name, void **answer, int version,
		     unsigned long long flags)
{
	return cuGetProcAddress_v2(name, answer, version, flags, NULL);
}
#endif'

# As the one of WSL: it asks another file for what it exports itself.
shim_source='
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static void *real;
__attribute__((constructor)) static void start(void)
{
	real = dlsym(dlopen(getenv("REAL"), RTLD_NOW), "cuMemGetInfo_v2");
}
int cuMemGetInfo_v2(size_t *f, size_t *t)
{
	Dl_info info = { 0 };
	dladdr(real, &info);
	return strstr(info.dli_fname, "preload") ? 1 :
		((int (*)(size_t *, size_t *))real)(f, t);
}'

# Linked against the driver; as a library, an extension that only its user sees.
reach_source='
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
int cuMemGetInfo_v2(size_t *f, size_t *t);
void reach(void)
{
	size_t f = 0, t = 0;
	int result = cuMemGetInfo_v2(&f, &t);
	Dl_info info = { 0 };
	dladdr((void *)cuMemGetInfo_v2, &info);
	printf("driver %zu, %d, %s%s\n", t, result,
	       strrchr(info.dli_fname, 47) + 1,
	       dlsym(RTLD_DEFAULT, "cuInit") ? "" : ", out of its scope");
}'

# Another preload, with a dlsym of its own and a function that it extends.
second_source='
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__aarch64__)
#define VERSION "GLIBC_2.17"
#else
#define VERSION "GLIBC_2.2.5"
#endif
void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);
	if (!real)
		real = dlvsym(RTLD_NEXT, "dlsym", VERSION);
	return real(handle, name);
}
int puts(const char *text)
{
	static int (*real)(const char *);
	if (real)
		_exit(3); /* it found itself */
	real = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");
	fputs("second: ", stdout);
	return real(text);
}'

# A dl_iterate_phdr of its own, as some allocators and databases have.
modules_source='
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
typedef int visit_fn(struct dl_phdr_info *, size_t, void *);
int dl_iterate_phdr(visit_fn *visit, void *data)
{
	static int (*real)(visit_fn *, void *);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return real(visit, data);
}
int main(void)
{
	return puts(dlsym(RTLD_DEFAULT, "puts") ? "text" : "none") < 0;
}'

puts_source='
#include <stdio.h>
int main(int argc, char **argv) { (void)argv; return argc == 1 && puts("text") < 0; }'

build() { # SOURCE FILE OPTIONS...
	local file=$2

	mkdir -p "$(dirname "$file")"
	printf '%s\n' "$1" >"$file.c"
	shift 2
	"$compiler" -D_GNU_SOURCE -O2 -o "$file" "$file.c" "$@" -ldl && return
	not_ok "$label: builds $file"
	finish
}

driver() { # FOLDER NUMBER OPTIONS...
	local file=$1/libcuda.so.1 number=$2

	shift 2
	build "$driver_source" "$file" -shared -fPIC \
		-Wl,-soname,libcuda.so.1 -DNUMBER="$number" "$@"
}

build_all() {
	driver one 11 -Wl,-Bsymbolic
	driver two 22 -Wl,-Bsymbolic
	# Takes for its own what others export before it.
	driver loose 33
	driver old 44 -Wl,-Bsymbolic -DOLD
	driver shim/real 55 -Wl,-Bsymbolic
	build "$shim_source" shim/libcuda.so.1 -shared -fPIC \
		-Wl,-soname,libcuda.so.1
	build "$reach_source" extension.so -shared -fPIC \
		"$PWD/one/libcuda.so.1" -Wl,-rpath,"$PWD/one"
	build "$reach_source
int main(void) { reach(); return 0; }" linked -fPIC \
		"$PWD/one/libcuda.so.1" -Wl,-rpath,"$PWD/one"
	# The hash table of old libraries, for once.
	build "$second_source" second.so -shared -fPIC -Wl,--hash-style=sysv
	build "$puts_source" puts
	build "$modules_source" modules -rdynamic
	cp puts.c sanitized.c
	"$compiler" -fsanitize=address -o sanitized sanitized.c 2>/dev/null ||
		echo "# left out: an address sanitizer, the compiler has none"
}

# --- what is tried ----------------------------------------------------------

# loaded LIBRARIES SETTING... -- COMMAND...: sets $status, $out, $err.
loaded() {
	local variables=("LD_PRELOAD=$1") command=(env) variable

	shift
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	if [ ${#emulator[@]} -gt 0 ]; then
		command=("${emulator[@]}")
		for variable in "${variables[@]}"; do
			command+=(-E "$variable")
		done
	else
		command+=("${variables[@]}")
	fi
	run timeout "$PATIENCE" "${command[@]}" "$@"
}

# reaches NAME WANTED LIBRARIES SETTING... -- COMMAND...
reaches() {
	local name="$label: $1" wanted=$2

	shift 2
	loaded "$@"
	# shellcheck disable=SC2154 # run sets them
	is "$name" "$out${err:+ ($err)}
exit $status" "$wanted
exit 0"
}

# Name | words of preload_reach.c | the lines it prints, separated by ;
rows() {
	cat <<END
a library that was opened|open $one find cuMemAlloc_v2 call|cuMemAlloc_v2 is of $OURS; driver 11
exact names only|open $one find cuInit find cuMemAllo find cuMemAlloc_v2x find nvmlx|cuInit is of libcuda.so.1; cuMemAllo is of nobody; cuMemAlloc_v2x is of nobody; nvmlx is of nobody
what this driver lacks|open $one find cuMemCreate|cuMemCreate is of nobody
everything that is loaded|open $one all find cuMemAlloc_v2 call|cuMemAlloc_v2 is of $OURS; driver 11
the program and what it needs|open $one self find cuMemAlloc_v2 call|cuMemAlloc_v2 is of $OURS; driver 11
no driver is loaded|all find cuMemAlloc_v2 self find cuMemFree_v2 find cuGetProcAddress_v2|cuMemAlloc_v2 is of nobody; cuMemFree_v2 is of nobody; cuGetProcAddress_v2 is of nobody
not of the driver|all find malloc self find dlopen find nothing|malloc is of libc.so.6; dlopen is of libc.so.6; nothing is of nobody
opened twice|open $one call open $one call close call|driver 11; driver 11; driver 11
closed and opened again|open $one call close open $one find cuMemAlloc_v2 call|driver 11; cuMemAlloc_v2 is of $OURS; driver 11
closed, and used all the same|open $one call close all call|driver 11; driver 11
a second driver is left alone|open $one call open $two find cuMemGetInfo_v2 call open $one call|driver 11; cuMemGetInfo_v2 is of libcuda.so.1; driver 22; driver 11
a driver that takes our exports for its own|open $loose ask cuMemGetInfo 3020 0 find cuMemAlloc_v2 call|cuMemGetInfo 3020 0: 0, 0, cuMemGetInfo_v2 of $OURS; cuMemAlloc_v2 is of $OURS; driver 33
a driver that asks another file|open $shim find cuMemGetInfo_v2 call|cuMemGetInfo_v2 is of $OURS; driver 55
a driver without cuGetProcAddress|open $old find cuGetProcAddress find cuGetProcAddress_v2 call all find cuGetProcAddress|cuGetProcAddress is of nobody; cuGetProcAddress_v2 is of nobody; driver 44; cuGetProcAddress is of nobody
an extension that only its user sees|use $PWD/extension.so reach|driver 11, 0, $OURS
versions|open $one ask cuMemAlloc 2000 0 ask cuMemAlloc 3019 0 ask cuMemAlloc 3020 0 ask cuMemAlloc 13000 1|cuMemAlloc 2000 0: 0, 0, cuMemAlloc of $OURS; cuMemAlloc 3019 0: 0, 0, cuMemAlloc of $OURS; cuMemAlloc 3020 0: 0, 0, cuMemAlloc_v2 of $OURS; cuMemAlloc 13000 1: 0, 0, cuMemAlloc_v2 of $OURS
streams|open $one ask cuLaunchKernel 4000 0 ask cuLaunchKernel 7000 2 ask cuLaunchKernel 13000 2 ask cuMemAlloc 3020 2|cuLaunchKernel 4000 0: 0, 0, cuLaunchKernel of $OURS; cuLaunchKernel 7000 2: 0, 0, cuLaunchKernel_ptsz of $OURS; cuLaunchKernel 13000 2: 0, 0, cuLaunchKernel_ptsz of $OURS; cuMemAlloc 3020 2: 0, 0, cuMemAlloc_v2 of $OURS
no address and no success|open $one ask cuMemCreate 13000 0 ask cuMemAlloc 1000 0 ask cuMemAlloc 15000 0 ask nothing 13000 0|cuMemCreate 13000 0: 0, 1,  of nobody; cuMemAlloc 1000 0: 0, 1,  of nobody; cuMemAlloc 15000 0: 1, 7,  of nobody; nothing 13000 0: 0, 1,  of nobody
not hooked|open $one ask cuInit 13000 0|cuInit 13000 0: 0, 0, cuInit of libcuda.so.1
cuGetProcAddress itself|open $one ask cuGetProcAddress 11030 0 ask cuGetProcAddress 12000 0 ask-old cuGetProcAddress 13000 0 ask-old cuMemAlloc 3020 0|cuGetProcAddress 11030 0: 0, 0, cuGetProcAddress of $OURS; cuGetProcAddress 12000 0: 0, 0, cuGetProcAddress_v2 of $OURS; cuGetProcAddress 13000 0: 0, cuGetProcAddress_v2 of $OURS; cuMemAlloc 3020 0: 0, cuMemAlloc_v2 of $OURS
a name that headers gave away|open $one ask cuGraphInstantiate 10000 0 ask cuGraphInstantiate 11000 0 ask cuGraphInstantiate 12000 0|cuGraphInstantiate 10000 0: 0, 0, cuGraphInstantiate of $OURS; cuGraphInstantiate 11000 0: 0, 0, cuGraphInstantiate_v2 of $OURS; cuGraphInstantiate 12000 0: 0, 0, cuGraphInstantiateWithFlags of $OURS
newer than what is known|open $one ask cuMemFree 14000 0 ask cuMemAlloc 14000 0 ask cuMemFree 13000 0|cuMemFree 14000 0: 0, 0,  of libcuda.so.1; cuMemAlloc 14000 0: 0, 0, cuMemAlloc_v2 of $OURS; cuMemFree 13000 0: 0, 0, cuMemFree_v2 of $OURS
threads that are first at once|open $one threads 32|32 of 32 threads
threads, bound by everything|open $one all threads 32|32 of 32 threads
a child without exec|open $one call fork call threads 8 find cuMemAlloc_v2|driver 11; driver 11; 8 of 8 threads; cuMemAlloc_v2 is of $OURS
a child that is the first to look|fork open $one call|driver 11
END
}

try_all() {
	local one=$PWD/one/libcuda.so.1 two=$PWD/two/libcuda.so.1
	local loose=$PWD/loose/libcuda.so.1 old=$PWD/old/libcuda.so.1
	local shim=$PWD/shim/libcuda.so.1 name words wanted both

	export REAL=$PWD/shim/real/libcuda.so.1
	while IFS='|' read -r name words wanted; do
		wanted=$(tr ';' '\n' <<<"$wanted" | sed 's/^ //')
		# shellcheck disable=SC2086 # they are words
		reaches "$name" "$wanted" "$preload" -- "$reach" $words </dev/null
	done < <(rows)
	reaches "linked against the driver" "driver 11, 0, $OURS" \
		"$preload" -- ./linked
	reaches "linked, all bound at once" "driver 11, 0, $OURS" \
		"$preload" LD_BIND_NOW=1 -- ./linked
	reaches "switched off" "cuMemAlloc_v2 is of libcuda.so.1
driver 11
cuMemAlloc 3020 0: 0, 0, cuMemAlloc_v2 of libcuda.so.1" \
		"$preload" AUTOFIT_HOOK=0 -- "$reach" open "$one" \
		find cuMemAlloc_v2 call ask cuMemAlloc 3020 0
	reaches "switched off, linked" "driver 11, 0, $OURS" \
		"$preload" AUTOFIT_HOOK=0 -- ./linked
	reaches "loaded twice by one name" "driver 11" \
		"$preload $preload" -- "$reach" open "$one" call
	mkdir -p copy && cp "$preload" copy/
	reaches "two copies of it" "driver 11" \
		"$preload $PWD/copy/$OURS" -- "$reach" open "$one" call
	reaches "a program with its own dl_iterate_phdr" text "$preload" -- \
		./modules
	# One that replaces strcmp, and calls dlsym to find the real one.
	if [ -x sanitized ] && [ ${#emulator[@]} -eq 0 ]; then
		reaches "a program with an address sanitizer" text "$preload" \
			ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
			-- ./sanitized
	fi
	for both in "$preload $PWD/second.so" "$PWD/second.so $preload"; do
		name="another dlsym, ${both##*/} last"
		reaches "$name: RTLD_NEXT" "second: text" "$both" -- ./puts
		reaches "$name: a driver" "driver 11" \
			"$both" -- "$reach" open "$one" call
	done
	reaches "another dlsym after ours: a wrapper" \
		"cuMemAlloc_v2 is of $OURS" "$preload $PWD/second.so" -- \
		"$reach" open "$one" find cuMemAlloc_v2
}

label=here
emulator=()
preload=$BUILD/$OURS
reach=$HELPERS/preload_reach
mkdir here && cd here || exit 99
build_all
try_all
cd ..

# --- the other processor ----------------------------------------------------

root=/usr/aarch64-linux-gnu
if [ "$(uname -m)" = aarch64 ] ||
	! command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null ||
	! [ -e "$root/lib/libc.so.6" ]; then
	echo "# left out: aarch64, its compiler or qemu-aarch64 is not here"
	finish
fi
label=aarch64
compiler=aarch64-linux-gnu-gcc
emulator=(qemu-aarch64 -L "$root")
mkdir aarch64 && cd aarch64 || exit 99
cmake -S "$SOURCE" -B build -DCMAKE_SYSTEM_NAME=Linux \
	-DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER="$compiler" \
	>log 2>&1 &&
	cmake --build build --target autofit_preload helper_preload_reach \
		>log 2>&1
status=$?
is "aarch64: builds" "$status $(grep -iE 'error|warning' log)" "0 "
[ "$status" -eq 0 ] || finish
preload=$PWD/build/$OURS
is "aarch64: nothing runs when it is loaded" \
	"$(readelf -dW "$preload" | grep -E 'INIT|FINI')" ""
is "aarch64: needs the first glibc" \
	"$(readelf -VW "$preload" | grep -oE 'GLIBC_[0-9.]+' | sort -u)" GLIBC_2.17
reach=$PWD/build/helpers/preload_reach
build_all
try_all
finish
