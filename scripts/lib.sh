# Shared by the scripts of this folder: packages, and the build.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

say() {
	printf '%s\n' "== $*" >&2
}

die() {
	printf '%s\n' "$0: $*" >&2
	exit 1
}

# need_packages PACKAGE... : install with apt what is not there yet.
need_packages() {
	local missing=() package
	if ! command -v apt-get >/dev/null; then
		say "no apt-get here; what Debian calls these is needed: $*"
		return 0
	fi
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
			grep -q 'ok installed' || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing: ${missing[*]}"
	local root=()
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			die "run as root, or install: ${missing[*]}"
		if [ -t 0 ]; then
			read -r -p "install them with sudo apt-get? [Y/n] " answer
			case "$answer" in
			[nN]*) die "not installed: ${missing[*]}" ;;
			esac
		fi
		root=(sudo)
	fi
	"${root[@]}" apt-get update -qq
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "${missing[@]}" \
		>/dev/null
}

need_build_packages() {
	need_packages gcc libc6-dev make cmake pkg-config libuv1-dev \
		libinih-dev libjansson-dev libpcre2-dev libyaml-dev
}

# libFuzzer comes with clang, or in a package named after its version.
need_fuzzer() {
	local library

	library=$(clang -fsanitize=fuzzer -### -x c /dev/null 2>&1 |
		grep -o '[^" ]*libclang_rt\.fuzzer[^" ]*\.a' |
		head -n 1 || true)
	[ -e "$library" ] ||
		need_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

# torch_python : print a Python that has torch; installs Debian's if none has.
torch_python() {
	local python
	for python in python3 /usr/bin/python3; do
		if "$python" -c 'import torch' 2>/dev/null; then
			command -v "$python"
			return 0
		fi
	done
	# Without libopenblas0 Debian's torch multiplies 40 times slower.
	need_packages python3 python3-torch python3-numpy libopenblas0
	/usr/bin/python3 -c 'import torch' ||
		die "python3-torch is installed and cannot be imported"
	echo /usr/bin/python3
}

# build PRESET TARGET [CMAKE-OPTION...]: warnings and errors are shown, the rest not.
build() {
	local preset=$1 target=$2
	shift 2
	say "building ($preset)"
	cmake --preset "$preset" "$@" >/dev/null
	cmake --build --preset "$preset" --target "$target" -j "$(nproc)" >/dev/null
}
