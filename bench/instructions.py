"""Counts the instructions of a call of SLIDEWIN.CHECK, which do not vary from run to run as times do.

The server runs under callgrind, which counts only inside the dispatcher of module commands: the module, and
what it makes the server do (seeks, the sorted-set add, replication arguments, the reply).

How many they are also depends on the server's build, on libc, on the allocator, on the processor that valgrind
shows, and a little on the compilers. So bare.c is counted beside it, on the same server: the calls that no module with
a log can leave out. What is compared with instructions.json is the ratio of the two: it holds for any toolchain. A
growth by more than a tenth fails. Where no figures are recorded for the server's version, it says so and exits with 77.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Callable, Iterable, NamedTuple

import logs
from server import HERE, MODULE, SERVER, Server, bare_module

FIGURES = HERE / "instructions.json"
GROWTH = 1.10
SKIPPED = 77  # as test drivers of automake and meson have it
# The server's function that runs a module's command, nothing else.
DISPATCHER = "RedisModuleCommandDispatcher"
# Long: no further entry expires while callgrind is at it.
WINDOW_S = 864_000
WINDOW_US = WINDOW_S * 1_000_000


def refused(client) -> list[tuple]:
    """500 keys, each with 100 live entries and full."""
    now_us = logs.now_us()
    for key in range(500):
        logs.load_slidewin(client, f"k{key}", 100, now_us - WINDOW_US // 2, now_us, WINDOW_US, 3_000_000 + key % 48)
    return [(f"k{call % 500}", WINDOW_S, 100) for call in range(2_000)]


def sparse(client) -> list[tuple]:
    """500 keys that do not exist yet, 6 admissions each."""
    return [(f"k{call % 500}", WINDOW_S, 100) for call in range(3_000)]


def dense(client) -> list[tuple]:
    """400 keys, each with 100 live entries and one that has just expired, which the admission trims."""
    now_us = logs.now_us()
    for key in range(400):
        # Bundling is due at certain totals: each key is at another point of the way to the next.
        logs.load_slidewin(client, f"k{key}", 101, now_us - WINDOW_US, now_us, WINDOW_US, 3_000_000 + key % 48)
    return [(f"k{key}", WINDOW_S, 1_000) for key in range(400)]


class Workload(NamedTuple):
    prepare: Callable
    bare: str
    answer: int


WORKLOADS = {
    "refused": Workload(refused, "BARE.REFUSED", 0),
    "sparse": Workload(sparse, "BARE.ADMITTED", 1),
    "dense": Workload(dense, "BARE.ADMITTED", 1),
}


def count(name: str, command: str, arguments: Callable, bare: str, folder: str) -> tuple[int, int]:
    """Instructions per call of a command in a workload: all of them, and those of the module's own code."""
    workload = WORKLOADS[name]
    out = os.path.join(folder, f"callgrind.{name}.{command}")
    valgrind = ("valgrind", "-q", "--tool=callgrind", f"--toggle-collect={DISPATCHER}")
    with Server("--loadmodule", bare, wrapper=(*valgrind, f"--callgrind-out-file={out}")) as server:
        calls = workload.prepare(server.client)
        with server.client.pipeline(transaction=False) as pipe:
            for call in calls:
                pipe.execute_command(command, *arguments(call))
            replies = pipe.execute()
        server.stop()  # callgrind writes its file at the end
    if replies != [workload.answer] * len(calls):
        raise SystemExit(f"instructions: {name}: a call of {command} was not answered with {workload.answer}")
    with open(out) as file:
        by_object = read(file)
    own = sum(counted for path, counted in by_object.items() if path.endswith(MODULE.name))
    return round(sum(by_object.values()) / len(calls)), round(own / len(calls))


def read(lines: Iterable[str]) -> Counter:
    """Of a file of callgrind: instructions by the object (program or library) whose code they are."""
    paths: dict[str, str] = {}
    counted: Counter = Counter()
    here, is_callee = "", False
    for line in lines:
        if found := re.match(r"(c?)ob=(\(\d+\))(?: (.+))?", line):
            callee, number, path = found.groups()
            paths.setdefault(number, path)
            here = here if callee else paths[number]
        elif line.startswith("calls="):
            is_callee = True  # the next line has what the callee cost, which is also counted where it is
        elif re.match(r"[+*\-\d]", line):
            if not is_callee:
                counted[here] += int(line.split()[1])
            is_callee = False
    return counted


def server_version() -> str:
    """What the ratio depends on: the server, less its patches, and the processor's architecture."""
    text = subprocess.check_output((SERVER, "--version"), text=True)
    name, version = re.match(r"(\w+) server v=(\d+\.\d+)", text, re.I).groups()
    return f"{name.lower()} {version}, {platform.machine()}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="record the figures for this server")
    options.add_argument("--keep", metavar="DIR", help="keep callgrind's files there, for callgrind_annotate")
    options = options.parse_args()

    figures = json.loads(FIGURES.read_text())
    version = server_version()
    recorded = figures.get(version)
    bare = str(bare_module())
    counted, grown = {}, False
    with tempfile.TemporaryDirectory(prefix="slidewin-callgrind-") as folder:
        folder = options.keep or folder
        for name, workload in WORKLOADS.items():
            check, own = count(name, "SLIDEWIN.CHECK", lambda call: call, bare, folder)
            least, _ = count(name, workload.bare, lambda call: call[:1], bare, folder)
            counted[name] = {"bare": least, "check": check}
            line = f"{name:8} {check:7} instructions per call, the module's own {own} ({own / check:.1%}); "
            line += f"{check / least:.3f} times the bare call's {least}"
            if recorded:
                before = recorded[name]["check"] / recorded[name]["bare"]
                growth = check / least / before
                grown |= growth > GROWTH
                line += f", recorded {before:.3f}, {growth - 1:+.1%}: {'GREW TOO MUCH' if growth > GROWTH else 'ok'}"
            print(line, flush=True)
    if options.record:
        figures[version] = counted
        FIGURES.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n")
        print(f"recorded for {version}")
    elif not recorded:
        print(f"skipped: no instructions recorded for {version} (bench/instructions.sh --record)")
        sys.exit(SKIPPED)
    else:
        sys.exit(grown)


if __name__ == "__main__":
    main()
