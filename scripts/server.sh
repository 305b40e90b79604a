# Sourced by whatever starts a server from a shell: the one launcher of its kind.
# shellcheck shell=bash

server='' # its process, while there is one

# start_server DIR MODULE [ARGUMENT...]: starts REDIS_SERVER, else `redis-server`, in the directory and with the module,
# on the first free port from 6379 to 6479. Sets `server` and `port` and returns when it answers; where it does not
# start, prints its log to stderr and fails. The caller's EXIT trap calls stop_server.
start_server() {
    local dir=$1 module=$2
    for port in {6379..6479}; do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue # taken
        "${REDIS_SERVER:-redis-server}" --port "$port" --bind 127.0.0.1 --save '' --dir "$dir" \
            --loadmodule "$module" "${@:3}" >"$dir/log" 2>&1 &
        server=$!
        while kill -0 "$server" 2>/dev/null; do
            if [[ $(redis-cli -p "$port" INFO server 2>/dev/null) == *"process_id:$server"* ]]; then return; fi
            sleep 0.05
        done
        server=''
        # Somebody took the port in between; anything else is an error.
        grep -q 'Address already in use' "$dir/log" || { cat "$dir/log" >&2; return 1; }
    done
    echo 'no free port from 6379 to 6479' >&2
    return 1
}

# stop_server: also where none was started.
stop_server() {
    [[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    server=''
}
