#!/bin/sh
# dist/astra-VERSION-linux-ARCH and its .tar.gz: the program with the libraries it needs beyond the C library,
# found relative to the program, so that the folder runs wherever it is put (glibc 2.36 or newer). Not in it is
# libcurl, which the program loads from the system when a model is asked over a network (docs/architecture.md).
set -eu
umask 022
export LC_ALL=C
cd -- "$(dirname -- "$0")/.."

die() { printf 'dist: %s\n' "$*" >&2; exit 1; }

build="build-dist"
# shellcheck disable=SC2016  # $ORIGIN is the loader's word
tools/build.sh $build --buildtype=release -Dc_link_args='-Wl,-rpath,$ORIGIN/../lib' -- astra tests/ptx/cases

version=$($build/astra --version | cut -d ' ' -f 2)
name=astra-$version-linux-$(uname -m)
top=dist/$name
rm -rf "$top" "$top.tar.gz"
mkdir -p "$top/bin" "$top/lib" "$top/licenses"
install -m 755 -s $build/astra "$top/bin/astra"
install -m 644 -s $build/libastra_capture.so "$top/lib/" # `astra capture` puts it into programs

if [ -n "${WITH_TESTS:-}" ]; then # for tests/gpu/check.sh on a machine that cannot build
    tools/build.sh $build -- tests/both tests/verdicts tests/plans tools/bench_judge
    install -m 755 -s $build/tests/both $build/tests/verdicts $build/tests/plans $build/tools/bench_judge "$top/bin/"
fi

# Everything but the C library itself goes along, each with its licence.
ldd $build/astra | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | while read -r library; do
    file=$(basename -- "$library")
    case $file in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*) continue ;;
    esac
    install -m 644 "$(realpath -- "$library")" "$top/lib/$file"
    real=$(realpath -- "$library")
    owner=$(dpkg -S "$real" 2>/dev/null || dpkg -S "${real#/usr}" 2>/dev/null) || die "no package owns $library"
    package=${owner%%:*}
    cp "/usr/share/doc/$package/copyright" "$top/licenses/$package"
done
cp .deps/tree-sitter-0.25.2/LICENSE "$top/licenses/tree-sitter"
cp .deps/tree_sitter_cuda-0.21.1/LICENSE "$top/licenses/tree-sitter-cuda"
cp -R LICENSE README.md NEWS.md docs examples "$top/"
mkdir -p "$top/tests/ptx" # a GPU is held to these: tests/gpu/run.sh
cp -R tests/ptx/README.md $build/tests/ptx/cases "$top/tests/ptx/"

# It must run from another place with nothing of this one.
try=$(mktemp -d)
trap 'rm -rf "$try"' EXIT
cp -R "$top" "$try/elsewhere"
said=$(env -i "$try/elsewhere/bin/astra" --version)
[ "$said" = "astra $version" ] || die "the moved program says '$said'"
if ldd "$try/elsewhere/bin/astra" | grep -E 'jansson|yaml|sqlite|libz' | grep -qv "$try/elsewhere"; then
    die "the moved program takes a library from this system"
fi

tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct 2>/dev/null || echo 0)" \
    -czf "$top.tar.gz" "$name"
echo "not in it: libcurl.so.4, taken from the system when a model is asked over a network"
du -sh "$top.tar.gz" | cut -f 1 | xargs printf '%s.tar.gz, %s\n' "$top"
