#!/usr/bin/env bash
# What is installed is one program that needs no other file, its texts, its
# manual pages and what completes its words.
# SPDX-License-Identifier: MIT
set -euo pipefail
: "${BUILD:?the build folder}" "${SOURCE:?the source folder}"
: "${TRAINER:?the example trainer}"

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

expected="bin/autofit
include/autofit/base/error.h
include/autofit/base/model_facts.h
include/autofit/estimator/estimator.h
include/autofit/estimator/options.h
lib/libautofit_estimator.a
lib/pkgconfig/autofit-estimator.pc
share/bash-completion/completions/autofit
share/doc/autofit/LICENSE
share/doc/autofit/README.md
share/doc/autofit/estimate.md
share/doc/autofit/manual.md
share/doc/autofit/nightly.md
share/doc/autofit/phantom.md
share/doc/autofit/presets.md
share/doc/autofit/profiles.md
share/doc/autofit/published-tables.md
share/doc/autofit/site.md
share/fish/vendor_completions.d/autofit.fish
share/man/man1/autofit.1
share/man/man5/autofit-nightly.5
share/man/man5/autofit-preset.5
share/man/man5/autofit-records.5
share/zsh/site-functions/_autofit"

# As a package is made, and as a user without root installs.
DESTDIR=$scratch/root cmake --install "$BUILD" --prefix /opt/autofit >/dev/null
HOME=$scratch/home cmake --install "$BUILD" --prefix "$scratch/home/.local" \
	>/dev/null
for prefix in "$scratch/root/opt/autofit" "$scratch/home/.local"; do
	found=$(cd "$prefix" && find . -type f | sed 's|^\./||' | LC_ALL=C sort)
	[ "$found" = "$expected" ] || fail "installed in $prefix:"$'\n'"$found"
done
if grep -qF -e "$SOURCE" -e "$BUILD" "$scratch/home/.local/bin/autofit"; then
	fail "the program names the folder it was built in"
fi

# Another program links what is installed.
export PKG_CONFIG_PATH=$scratch/home/.local/lib/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs autofit-estimator)"
cc "$SOURCE/examples/estimate.c" "${flags[@]}" -o "$scratch/estimate" ||
	fail "the example of the estimator does not build"
said=$("$scratch/estimate") || fail "the example of the estimator fails"
grep -qx '8030261248 parameters, [0-9.]* GiB ([0-9.]* to [0-9.]*)' \
	<<<"$said" || fail "the example says: $said"

share=$scratch/home/.local/share
if command -v groff >/dev/null; then
	for page in man1/autofit.1 man5/autofit-records.5 man5/autofit-preset.5 \
		man5/autofit-nightly.5; do
		said=$(groff -man -ww -z "$share/man/$page" 2>&1)
		[ -z "$said" ] || fail "$page: $said"
	done
fi
if command -v man >/dev/null; then
	for page in "1 autofit" "5 autofit-records" "5 autofit-preset" \
		"5 autofit-nightly"; do
		# shellcheck disable=SC2086 # section and name
		said=$(MANPATH=$share/man LC_ALL=C.UTF-8 man --warnings \
			-E UTF-8 $page 2>&1 >"$scratch/page") ||
			fail "man $page: $said"
		[ -z "$said" ] || fail "man $page: $said"
		grep -q 'NAME' "$scratch/page" || fail "man $page shows nothing"
	done
fi

# Alone in a folder, with nothing of this user and nothing of the project.
mkdir "$scratch/alone" "$scratch/user" "$scratch/work"
cp "$scratch/home/.local/bin/autofit" "$scratch/alone/"
cp "$TRAINER" "$SOURCE/examples/charlm/train.py" "$scratch/work/"
cd "$scratch/work"
autofit() {
	env -i PATH=/usr/bin:/bin HOME="$scratch/user" LC_ALL=C \
		"$scratch/alone/autofit" "$@"
}

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
[ "$(autofit --version)" = "autofit $version" ] ||
	fail "--version: $(autofit --version)"
# Not into a pipe: grep -q would close it before all is written.
said=$(autofit --help)
grep -q '^Usage: autofit ' <<<"$said" || fail "--help has no usage"

# What is installed is what this very program prints.
for file in "bash bash-completion/completions/autofit" \
	"zsh zsh/site-functions/_autofit" \
	"fish fish/vendor_completions.d/autofit.fish"; do
	autofit --completion "${file%% *}" >"$scratch/printed"
	cmp "$scratch/printed" "$share/${file#* }" ||
		fail "the completion for ${file%% *} is another one"
done

# It starts nothing, so the program need not be there.
said=$(autofit explain --device host -- python3 train.py --batch-size 8 \
	--grad-accum 16)
grep -q 'effective batch 128 = 8 x 16 x 1' <<<"$said" || fail "explain: $said"
said=$(autofit explain --device host -- python3 -m trl.scripts.sft \
	--per_device_train_batch_size 4 --output_dir out)
grep -q '^preset *trl ' <<<"$said" || fail "explain knows no preset: $said"

said=$(autofit tune --device host --memory 128M --confirm-steps 5 -- \
	./trainer --batch-size 4 --per-sample-kib 1024 --steps 100 2>&1) ||
	fail "tune: $said"
recorded=$(autofit show)
grep -q '^trainer-host-memory-' <<<"$recorded" || fail "show: $recorded"
