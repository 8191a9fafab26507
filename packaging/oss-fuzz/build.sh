#!/bin/bash -eu
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh - builds each tests/fuzz/fuzz_*.c into $OUT, with its seeds and the libraries that it
# needs, as OSS-Fuzz runs it where there are no others. The compiler and its flags are OSS-Fuzz's.

targets=(tests/fuzz/fuzz_*.c)
targets=("${targets[@]%.c}")
# BPF programs are no part of a fuzzer. CXXFLAGS: libFuzzer is C++.
make -j"$(nproc)" BUILD=build/oss-fuzz BPF=no LDFLAGS="$CXXFLAGS -Wl,-rpath,'\$\$ORIGIN/lib'" \
	"${targets[@]/#/build/oss-fuzz/}"
mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
	name=${target##*/}
	cp "build/oss-fuzz/$target" "$OUT/"
	seeds=tests/fuzz/corpus/${name#fuzz_}
	[ ! -d "$seeds" ] || (cd "$seeds" && zip -qr "$OUT/${name}_seed_corpus.zip" .)
	# What the loader finds by itself on every system is left out.
	ldd "$OUT/$name" |
		awk '$3 ~ "^/" && $1 !~ /^lib(c|m|dl|rt|pthread|gcc_s)\.so/ { print $3 }' |
		xargs -r cp -nt "$OUT/lib"
done
# Libraries find each other.
patchelf --set-rpath '$ORIGIN' "$OUT"/lib/*
