#!/usr/bin/env bash
# Installs what is missing of the tools named: `scripts/setup.sh build redis valgrind ...`.
# Quick and silent where all is there. On a system without apt-get it says what to install, and fails.
set -euo pipefail

has() { command -v "$1" >/dev/null 2>&1; }
# The library alone, which other packages bring too, lacks the compiler's own headers (stddef.h).
has_libclang() { has_libclang_library && { compgen -G '/usr/lib*/llvm*/lib*/clang/*/include/stddef.h' ||
    compgen -G '/usr/lib*/clang/*/include/stddef.h' || [[ ${LIBCLANG_PATH-} ]]; }; }
has_libclang_library() { compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' || compgen -G '/usr/lib*/libclang*.so*' ||
    compgen -G '/usr/lib/*-linux-*/libclang*.so*' || [[ ${LIBCLANG_PATH-} ]]; }

packages=()
for need in "$@"; do
    case $need in
        build)
            has cargo || {
                echo 'cargo is missing: install Rust with rustup (https://rustup.rs), then try again' >&2
                exit 1
            }
            has cc || packages+=(gcc libc6-dev)
            has_libclang >/dev/null || packages+=(libclang-dev) # for bindgen, which reads redismodule.h
            ;;
        redis) { [[ ${REDIS_SERVER-} ]] || has redis-server; } && has redis-cli || packages+=(redis-server) ;;
        valgrind) has valgrind || packages+=(valgrind) ;;
        python) has python3 && python3 -c 'import venv, ensurepip' 2>/dev/null || packages+=(python3 python3-venv) ;;
        *)
            echo "setup.sh: unknown tool $need" >&2
            exit 2
            ;;
    esac
done
((${#packages[@]})) || exit 0
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
apt_install "${packages[@]}"
