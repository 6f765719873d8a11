#!/bin/sh
# Installs what the build needs and fetches the parser's sources; silent and off line when all is there.
#
#   tools/setup.sh [build|check|peer|hopper|lint|fuzz|cover|dist]...      (no word: build)
#
# Debian packages come by apt-get, as root or through sudo. The parser runtime and the CUDA grammar come from
# two packages of the Python registry, pinned by version and hash in tools/deps.txt, into .deps/. `peer` fetches the
# official client of the Model Context Protocol, which tests/cli/mcp.py speaks with where it is there; `hopper` CUTLASS,
# whose kernels tests/hopper runs.
set -eu
umask 022
LC_ALL=C
export LC_ALL
unset CDPATH
cd -- "$(dirname -- "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Package names missing from this machine are collected in $missing.
missing=
need() { # need PACKAGE COMMAND...: the command must succeed
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
need_command() { need "$1" have "$2"; }

browser() { have chromium || have chromium-browser || have google-chrome || have google-chrome-stable || have chrome; }

look() {
    missing=
    for what in "$@"; do
        case $what in
        build)
            need_command gcc gcc
            need libc6-dev test -e /usr/include/stdlib.h
            need_command meson meson
            need_command ninja-build ninja
            need_command pkg-config pkg-config
            need_command python3 python3
            for pair in libjansson-dev:jansson libyaml-dev:yaml-0.1 libsqlite3-dev:sqlite3 libcmocka-dev:cmocka \
                libcurl4-openssl-dev:libcurl zlib1g-dev:zlib; do
                need "${pair%:*}" pkg-config --exists "${pair#*:}"
            done
            # nvcc is a second opinion on the result, and needs a host compiler for it
            if have nvcc || [ -x /usr/local/cuda/bin/nvcc ]; then
                need_command g++ g++
            fi
            if ! sources_present; then
                need python3-pip pip_python
            fi
            ;;
        check)
            need chromium browser # the page of a run is tested in it
            need_command tmux tmux # and the live screen in this
            ;;
        peer | hopper) need python3-pip pip_python ;;
        lint)
            need_command clang-format-14 clang-format-14
            need_command clang-tidy-14 clang-tidy-14
            ;;
        fuzz)
            need_command clang-19 clang-19
            need libclang-rt-19-dev test -e /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a \
                -o -e /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-aarch64.a
            ;;
        cover) need_command gcovr gcovr ;;
        dist) need_command binutils strip ;;
        *) die "unknown word '$what'; use build, check, peer, hopper, lint, fuzz, cover or dist" ;;
        esac
    done
}

# shellcheck disable=SC2086  # package names are words
install_packages() {
    if ! have apt-get; then
        die "this is not Debian; install the equivalents of:$missing"
    fi
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || die "as root, type: apt-get install$missing"
        as_root=sudo
    fi
    say "installing from Debian:$missing"
    log=$(mktemp)
    apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
    if $apt update >"$log" 2>&1 && $apt install -y --no-install-recommends $missing >>"$log" 2>&1; then
        rm -f "$log"
        return
    fi
    tail -n 15 "$log" >&2
    rm -f "$log"
    die "could not install:$missing; look at the lines above, then type: ${as_root:+sudo }apt-get install$missing"
}

runtime=.deps/tree-sitter-0.25.2
grammar=.deps/tree_sitter_cuda-0.21.1
runtime_present() { [ -f $runtime/tree_sitter/core/lib/src/lib.c ]; }
grammar_present() { [ -f $grammar/src/parser.c ] && [ -f $grammar/src/scanner.c ]; }
sources_present() { runtime_present && grammar_present; }

# A Python with pip: the first on PATH, or else Debian's own.
pip_python() {
    for python in python3 /usr/bin/python3; do
        if "$python" -m pip --version >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
    return 1
}

# The packages are unpacked beside their place and moved there whole, so that what is in .deps is complete.
fetch_sources() {
    mkdir -p .deps
    exec 9>.deps/.lock
    if have flock; then
        flock 9
        if sources_present; then
            return
        fi
    fi
    rm -rf .deps/.fetch.*
    tmp=$(mktemp -d .deps/.fetch.XXXXXX)
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 130' INT TERM
    say "fetching the parser's sources (tree-sitter, tree-sitter-cuda) from the Python package registry"
    # pip verifies the hashes of tools/deps.txt before it opens anything.
    if ! "$(pip_python)" -m pip download --quiet --no-input --disable-pip-version-check --no-deps \
        --no-binary tree-sitter,tree-sitter-cuda --require-hashes -r tools/deps.txt -d "$tmp" >"$tmp/log" 2>&1; then
        tail -n 15 "$tmp/log" >&2
        die "could not fetch what tools/deps.txt names; with a network, type make again, or unpack the two source packages into .deps/ by hand"
    fi
    for dir in "$runtime" "$grammar"; do
        name=${dir#.deps/}
        mkdir "$tmp/$name"
        tar -xzf "$tmp/$name.tar.gz" -C "$tmp/$name" --strip-components 1 --no-same-owner
        rm -rf "$dir"
        mv "$tmp/$name" "$dir"
    done
    sources_present || die "the fetched packages lack the expected files; remove .deps and type make again"
}

# fetch_wheels FOLDER LIST WHAT: what LIST names by version and hash, into .deps/FOLDER. Wheels, so that nothing is built.
fetch_wheels() {
    [ -d ".deps/$1" ] && return
    mkdir -p .deps
    tmp=$(mktemp -d .deps/.fetch.XXXXXX)
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 130' INT TERM
    say "fetching $3 from the Python package registry"
    if ! "$(pip_python)" -m pip install --quiet --no-input --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --target "$tmp/wheels" -r "$2" >"$tmp/log" 2>&1; then
        tail -n 15 "$tmp/log" >&2
        die "could not fetch what $2 names; its head says for which Python it is"
    fi
    mv "$tmp/wheels" ".deps/$1"
}

# The build needs no toolkit and the tests of the compiler do: worth a word, not a failure.
nvrtc_present() {
    have nvcc || [ -n "${ASTRA_NVRTC-}" ] || ldconfig -p 2>/dev/null | grep -q libnvrtc && return
    for file in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so* "${CUDA_PATH:-/usr/local/cuda}"/lib64/libnvrtc.so* \
        "${VIRTUAL_ENV:-${HOME-}/.local}"/lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so* \
        /usr/local/lib/python3*/*-packages/nvidia/cu*/lib/libnvrtc.so*; do
        [ -e "$file" ] && return
    done
    return 1
}

[ $# -gt 0 ] || set -- build
look "$@"
if [ -n "$missing" ]; then
    install_packages
    hash -r
    look "$@"
    [ -z "$missing" ] || die "still missing after the installation:$missing"
fi
for what in "$@"; do
    [ "$what" = peer ] && fetch_wheels mcp-peer tools/peer.txt "the official client of the Model Context Protocol"
    [ "$what" = hopper ] && fetch_wheels cutlass-4.2.0 tools/cutlass.txt "CUTLASS's headers"
    [ "$what" = build ] || continue
    sources_present || fetch_sources
    nvrtc_present || say "no CUDA toolkit here: kernels cannot be compiled. Install it, or take NVRTC from the Python package registry:
    python3 -m venv ~/.cuda-wheels && . ~/.cuda-wheels/bin/activate &&
        pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl
  (Debian: apt-get install python3-venv first); astra finds them in the active environment."
done
