#!/usr/bin/env bash
# The preload library exports what it must and nothing else, needs only old
# symbols, and its table is what the script makes of a toolkit.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
: "${BUILD:?the build folder}"

library=$BUILD/libautofit_preload.so
table=$SOURCE/probes/preload/hook_table.h
[ -r "$library" ] || fail "no $library"

# dlsym, and what the table names.
wanted_exports() {
	echo dlsym
	sed -nE 's/^\tROW\(([A-Za-z0-9_]+),.*/\1/p' "$table"
}

exports() { # LIBRARY
	objdump -T "$1" | awk '$0 ~ /^[0-9a-f]/ && !/\*UND\*/ { print $NF }'
}

# Lines "symbol version"; a version is empty where there is none.
needs() { # LIBRARY
	objdump -T "$1" | sed -nE \
		's/.*\*UND\*[[:space:]]+[0-9a-f]+([[:space:]]+\(?([A-Za-z_0-9.]+)\)?)? +([^ ]+)$/\3 \2/p'
}

# The first glibc of each processor.
oldest() { # LIBRARY
	case $(objdump -f "$1") in
	*x86-64*) echo 2.2.5 ;;
	*aarch64*) echo 2.17 ;;
	*) echo 2.34 ;;
	esac
}

# Until 2.34 they were in libraries that not every program loads.
elsewhere='^(dl(open|m?open|v?sym|addr1?|error|close|info)|pthread_.*|sem_.*|clock_.*|timer_.*|mq_.*|aio_.*|shm_.*|__tls_get_addr)$'

# What is wrong with it; nothing when all is well.
complaints() { # LIBRARY
	local limit sections symbol version

	{ diff <(wanted_exports | sort) <(exports "$1" | sort) || true; } |
		sed -nE 's/^>/exports:/p; s/^</does not export:/p'
	limit=$(oldest "$1")
	needs "$1" | while read -r symbol version; do
		# Weak and of no version: where it is missing it is not used.
		[ "$symbol $version" = "_r_debug Base" ] && continue
		if [[ $symbol =~ $elsewhere ]]; then
			echo "needs $symbol, which was not in libc"
		elif [ "${version#GLIBC_}" != "$(printf '%s\n' "${version#GLIBC_}" \
			"$limit" | sort -V | head -n 1)" ]; then
			echo "needs $symbol of $version"
		fi
	done
	objdump -p "$1" | awk '$1 == "NEEDED" && $2 != "libc.so.6" {
		print "needs the library", $2 }
		$1 ~ /^(INIT|FINI|INIT_ARRAY|FINI_ARRAY|PREINIT_ARRAY|TEXTREL)$/ {
		print "has", $1 }
		$1 == "RPATH" || $1 == "RUNPATH" { print "has", $1 }
		$1 == "STACK" { stack = 1 }
		stack && /flags/ { if (/flags ..x/) print "wants a stack to run"; stack = 0 }'
	sections=$(objdump -h "$1")
	grep -qE '\.(init|fini)(_array)?( |$)' <<<"$sections" &&
		echo "runs something when it is loaded"
	sections=$(readelf -dW "$1")
	grep -qE 'FLAGS.*(BIND_)?NOW' <<<"$sections" && echo "is bound at once"
	return 0
}

# The checks must be known to find something.
cat >"$scratch/planted.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
int cuInit(void) { struct stat s; return fstat(0, &s) + (dlopen("x", 1) != 0); }
__attribute__((constructor)) static void start(void) { abort(); }
END
${CC:-cc} -shared -fPIC -Wl,-z,now,-z,execstack -o "$scratch/planted.so" \
	"$scratch/planted.c" -lm -Wl,--no-as-needed -lm 2>/dev/null
complaints "$scratch/planted.so" >"$scratch/planted"
for complaint in 'exports: cuInit' 'does not export: dlsym' 'which was not in' \
	'needs the library libm' 'has INIT' 'wants a stack' 'runs something' \
	'bound at once'; do
	grep -q "^.*$complaint" "$scratch/planted" ||
		fail "blind to a planted mistake ($complaint):
$(cat "$scratch/planted")"
done

[ "$(wanted_exports | wc -l)" -gt 100 ] || fail "cannot read $table"
needs "$library" | grep -q '^environ \|^dl_iterate_phdr ' ||
	fail "cannot read what $library needs"
complaints "$library" >"$scratch/found"
[ -s "$scratch/found" ] && fail "$(cat "$scratch/found")"
echo "exports $(exports "$library" | wc -l), needs glibc $(oldest "$library")"

toolkit=${CUDA_HOME:-/usr/local/cuda}
stub=$(find -L "$toolkit" -path '*stubs/libcuda.so' 2>/dev/null | head -n 1)
if ! [ -r "$toolkit/include/cudaTypedefs.h" ] || [ -z "$stub" ]; then
	echo "left out: the table, no toolkit is in $toolkit"
	exit 0
fi
version=$(sed -nE 's/^#define CUDA_VERSION ([0-9]+)/\1/p' "$toolkit/include/cuda.h")
if [ "$version" -gt "$(sed -nE 's/^#define HOOK_TABLE_VERSION //p' "$table")" ]; then
	echo "left out: the table, it is of an older toolkit than $version"
	exit 0
fi
# Of a table of later headers, as much as this toolkit has.
sed -nE 's/^\tROW\((\w+), "\w*", ([0-9]+), .*/\2 \1/p' "$table" |
	awk -v version="$version" '$1 > version { print $2 }' >"$scratch/newer"
grep -vxFf "$scratch/newer" "$SOURCE/probes/preload/hooks.list" >"$scratch/list"
awk 'FILENAME == ARGV[1] { newer[$1] = 1; next }
	match($0, /(ROW\(|HOOK_| fn_)cu[A-Za-z0-9_]+[,(]/) {
		name = substr($0, RSTART, RLENGTH - 1)
		sub(/^(ROW\(|HOOK_| fn_)/, "", name)
		skips = name in newer
	}
	!skips { print }
	/[,;\\]$/ && !/^typedef.*,$/ && !/^    .*,$/ { skips = 0 }' \
	"$scratch/newer" "$table" >"$scratch/known"
sed -i -E 's/(CUDA |HOOK_TABLE_VERSION )[0-9]+/\1/' "$scratch/known"
for source in "$stub" -; do
	"$SOURCE/scripts/hook_table.py" "$toolkit/include" "$source" \
		"$scratch/list" >"$scratch/table" ||
		fail "scripts/hook_table.py failed"
	sed -i -E 's/(CUDA |HOOK_TABLE_VERSION )[0-9]+/\1/' "$scratch/table"
	cmp "$scratch/table" "$scratch/known" ||
		fail "hook_table.h is not what scripts/hook_table.py writes"
done
# A list with a hole in it, a name that is none, a stub that is none.
sed '/^cuMemAlloc_v2$/d' "$scratch/list" >"$scratch/hole"
sed 's/^cuMemCreate$/cuMemCreat/' "$scratch/list" >"$scratch/typo"
for list in hole typo; do
	"$SOURCE/scripts/hook_table.py" "$toolkit/include" "$stub" \
		"$scratch/$list" >/dev/null 2>&1 &&
		fail "hook_table.py takes a list with a $list"
done
"$SOURCE/scripts/hook_table.py" "$toolkit/include" "$library" >/dev/null 2>&1 &&
	fail "hook_table.py takes any library for a driver"
exit 0
