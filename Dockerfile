# An official image of Redis or Valkey, Debian's or Alpine's, with slidewin loaded:
#
#   docker build --build-arg SERVER=valkey/valkey:9-alpine -t slidewin . && docker run slidewin
#
# SERVER is the image. The module is the portable one that the archive has too, so one build serves all of them. It is
# cross-compiled and nothing runs in the server's image: `docker buildx build --platform linux/amd64,linux/arm64` needs
# no emulator.
ARG SERVER=redis:8

FROM --platform=$BUILDPLATFORM rust:1-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libclang-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /slidewin
COPY Cargo.toml Cargo.lock ./
COPY scripts scripts
COPY core core
COPY src src
ARG TARGETARCH
RUN case "$TARGETARCH" in \
        amd64) target=x86_64-unknown-linux-gnu ;; \
        arm64) target=aarch64-unknown-linux-gnu ;; \
        *) echo "not for $TARGETARCH" >&2; exit 1 ;; \
    esac \
    && cp "$(scripts/portable.sh "$target" --release)" libslidewin.so

# hadolint ignore=DL3006
FROM ${SERVER}
# Not in /usr/local/lib/redis/modules: since Redis 8 the image's entrypoint loads whatever lies there, and a module
# that is loaded twice ends the server.
COPY --from=build /slidewin/libslidewin.so /usr/local/lib/slidewin/libslidewin.so
COPY LICENSE LICENSE-APACHE LICENSE-MIT /usr/local/share/doc/slidewin/
# The entrypoint of each image puts its own server before an option.
CMD ["--loadmodule", "/usr/local/lib/slidewin/libslidewin.so"]
