#!/usr/bin/env bash
# In the tree with sanitizers all of autofit has them, and nothing else does:
# they would change the memory of what it measures.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

cd "$SOURCE"
cmake --preset dev -B "$scratch/dev" >"$scratch/log" 2>&1 ||
	fail "$(cat "$scratch/log")"
# Lines "yes FILE" or "no FILE" for each compilation.
awk '/"command":/ { has = /-fsanitize=/ ? "yes" : "no" }
	/"file":/ { gsub(/.*: "|",?$/, ""); print has, $0 }' \
	"$scratch/dev/compile_commands.json" |
	sed "s|$SOURCE/||" >"$scratch/all"
# Libraries for the programs that are measured.
plain='probes/(preload|phantom/[a-z]+)'
wrong=$(grep -E -e "^yes (examples|tests/(cli|sim)|$plain)/" \
	-e '^no (base|search|estimator|configs|probes|launcher|tests/unit)/' \
	"$scratch/all" |
	grep -vxE "no ($plain/.*|probes/keeper/zygote_serve\.c)" || true)
[ -z "$wrong" ] || fail "wrong flags:"$'\n'"$wrong"

# What links them, in flags of the linker: only rooms, programs and tests.
wrong=$(grep -lr -e '-fsanitize' "$scratch/dev" --include=link.txt |
	grep -vE '/CMakeFiles/(autofit|autofit_pages|test_[a-z0-9_]+)\.dir/' || true)
[ -z "$wrong" ] || fail "linked with sanitizers:"$'\n'"$wrong"
for seen in 'yes launcher/main.c' 'no examples/trainer.c' \
	'no tests/sim/sim_fault.c' 'no probes/preload/real.c' \
	'no probes/keeper/zygote_serve.c'; do
	grep -qx "$seen" "$scratch/all" || fail "not in the tree: $seen"
done
grep -rq -e '-fsanitize' "$scratch"/dev/CMakeFiles/autofit.dir/link.txt ||
	fail "autofit is linked without sanitizers"
