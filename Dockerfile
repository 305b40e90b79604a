# The official image of Redis with slidewin loaded: docker build -t redis-slidewin . && docker run redis-slidewin
#
# REDIS is a tag of the official image that is based on Debian, so none of the -alpine ones.
ARG REDIS=8

FROM rust:1-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libclang-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /slidewin
COPY Cargo.toml Cargo.lock ./
COPY src src
RUN cargo build --release --locked --lib

FROM redis:${REDIS}
# Not in /usr/local/lib/redis/modules: since Redis 8 the image's entrypoint loads whatever lies there, and a module
# that is loaded twice ends the server.
COPY --from=build /slidewin/target/release/libslidewin.so /usr/local/lib/slidewin/libslidewin.so
COPY LICENSE LICENSE-APACHE LICENSE-MIT /usr/local/share/doc/slidewin/
CMD ["redis-server", "--loadmodule", "/usr/local/lib/slidewin/libslidewin.so"]
