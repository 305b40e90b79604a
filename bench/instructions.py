"""Counts the instructions of a call of SLIDEWIN.CHECK, which do not vary from run to run as times do.

The server runs under callgrind, which counts only inside the dispatcher of module commands: the module, and
what it makes the server do (seeks, the sorted-set add, replication arguments, the reply). Compared with the
figures of the same toolchain in instructions.json; a growth by more than a tenth fails.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Iterable

import logs

MODULE = os.environ["SLIDEWIN_MODULE"]
FIGURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
GROWTH = 1.10
# The server's function that runs a module's command, nothing else.
DISPATCHER = "RedisModuleCommandDispatcher"
# Long: no further entry expires while callgrind is at it.
WINDOW_S = 864_000
WINDOW_US = WINDOW_S * 1_000_000


def refused(client) -> list[tuple]:
    """500 keys, each with 100 live entries and full."""
    now_us = logs.now_us()
    for key in range(500):
        logs.load_slidewin(client, f"k{key}", 100, now_us - WINDOW_US // 2, now_us, WINDOW_US)
    return [(f"k{call % 500}", WINDOW_S, 100) for call in range(2_000)]


def sparse(client) -> list[tuple]:
    """500 keys that do not exist yet, 6 admissions each."""
    return [(f"k{call % 500}", WINDOW_S, 100) for call in range(3_000)]


def dense(client) -> list[tuple]:
    """400 keys, each with 100 live entries and one that has just expired, which the admission trims."""
    now_us = logs.now_us()
    for key in range(400):
        logs.load_slidewin(client, f"k{key}", 101, now_us - WINDOW_US, now_us, WINDOW_US)
    return [(f"k{key}", WINDOW_S, 1_000) for key in range(400)]


WORKLOADS = {"refused": (refused, 0), "sparse": (sparse, 1), "dense": (dense, 1)}


def count(name: str, keep: str | None) -> tuple[int, int]:
    """Instructions per call of a workload: all of them, and those of the module's own code."""
    from server import Server  # needs a server: not where callgrind is missing

    prepare, answer = WORKLOADS[name]
    folder = keep or tempfile.mkdtemp(prefix="slidewin-callgrind-")
    out = os.path.join(folder, f"callgrind.{name}")
    valgrind = ("valgrind", "-q", "--tool=callgrind", f"--toggle-collect={DISPATCHER}")
    try:
        with Server(wrapper=(*valgrind, f"--callgrind-out-file={out}")) as server:
            calls = prepare(server.client)
            with server.client.pipeline(transaction=False) as pipe:
                for arguments in calls:
                    pipe.execute_command("SLIDEWIN.CHECK", *arguments)
                replies = pipe.execute()
        if replies != [answer] * len(calls):
            raise SystemExit(f"instructions: {name}: a call was not answered with {answer}")
        with open(out) as file:
            by_object = read(file)
    finally:
        if not keep:
            shutil.rmtree(folder)
    own = sum(counted for path, counted in by_object.items() if path.endswith(os.path.basename(MODULE)))
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


def toolchain() -> str:
    """What the figures depend on: compiler, server, processor architecture."""
    rustc = subprocess.check_output(("rustc", "--version"), text=True).split()[1]
    server = subprocess.check_output((os.environ["REDIS_SERVER"], "--version"), text=True)
    name, version = re.match(r"(\w+) server v=(\S+)", server, re.I).groups()
    return f"rustc {rustc}, {name.lower()} {version}, {platform.machine()}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="record the figures for this toolchain")
    options.add_argument("--keep", metavar="DIR", help="keep callgrind's files there, for callgrind_annotate")
    options = options.parse_args()

    with open(FIGURES) as file:
        figures = json.load(file)
    name = toolchain()
    recorded = figures.get(name)
    if not recorded and not options.record:
        print(f"skipped: no instructions recorded for {name} (bench/instructions.sh --record)")
        return

    counted = {workload: count(workload, options.keep) for workload in WORKLOADS}
    if options.record:
        figures[name] = {workload: instructions for workload, (instructions, _) in counted.items()}
        with open(FIGURES, "w") as file:
            json.dump(figures, file, indent=2, sort_keys=True)
            file.write("\n")
    grown = False
    for workload, (instructions, own) in counted.items():
        before = (figures if options.record else {name: recorded})[name][workload]
        too_many = instructions > before * GROWTH
        grown |= too_many
        verdict = "GREW TOO MUCH" if too_many else "ok"
        print(f"{workload:8} {instructions:7} instructions per call, recorded {before:7}, "
              f"{instructions / before - 1:+.1%}: {verdict}; the module's own: {own} ({own / instructions:.1%})")
    print(f"on {name}")
    sys.exit(grown)


if __name__ == "__main__":
    main()
