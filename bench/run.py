"""The benchmark: runs every workload for every contestant, in rounds; writes the results."""

import argparse
import functools
import itertools
import json
import os
import platform
import subprocess
import time
from collections import defaultdict
from typing import Callable

import chart
import contestants
import drive
import report
import sizes
from big import MILLION, Big
from contestants import BARE_ADMITTED, BARE_REFUSED, CHECK, PEXPIRE, PING, ZADD, ZCARD, Contestant
from drive import Figure
from server import MODULE, SERVER, Server, bare_module
from workloads import NEVER_FULL, Bench, Known

BEGAN = time.monotonic()
HERE = os.path.dirname(os.path.abspath(__file__))


def plan(bench: Bench, compared: list[Contestant]) -> dict[tuple[str, str], Callable[[], Figure]]:
    """(workload, contestant) -> a run of it. Those of one workload follow one another."""
    runs: dict[tuple[str, str], Callable[[], Figure]] = {}

    def add(workload: str, name: str, run: Callable, *arguments, **options) -> None:
        runs[workload, name] = lambda: run(*arguments, **options)

    for who in (*compared, BARE_ADMITTED):
        add("sparse", who.name, bench.sparse, who)
    add("sparse", "MULTI/EXEC", bench.sparse_multi)
    add("sparse", "ZADD + PEXPIRE", bench.sparse_floor)
    for who in compared:
        add("dense", who.name, bench.dense, who)
    add("dense", BARE_ADMITTED.name, bench.dense_floor, BARE_ADMITTED)
    add("dense", "MULTI/EXEC", bench.dense_multi)
    add("dense", "ZADD + PEXPIRE", bench.dense_floor, ZADD, PEXPIRE)
    for who in (*compared, BARE_REFUSED, ZCARD, PING):
        add("refused", who.name, bench.refused, who)
    add("refused", "MULTI/EXEC", bench.refused_multi)
    for who in compared:
        add("hot", who.name, bench.hot, who)
    add("hot", "MULTI/EXEC", bench.hot_multi)
    return runs


def further(bench: Bench, big: Big, script: Contestant) -> dict[tuple[str, str], Callable[[], Figure]]:
    """More of CHECK itself: its options, more entries."""
    runs: dict[tuple[str, str], Callable[[], Figure]] = {}
    for who in contestants.VARIANTS:
        runs["options, sparse", who.name] = lambda who=who: bench.sparse(
            who, keys=20_000, limit=NEVER_FULL, fresh=who.name != "PEEK"
        )
    for who in contestants.REFUSED_VARIANTS:
        runs["options, refused", who.name] = lambda who=who: bench.refused(who, calls=100_000)
    coarse = contestants.check("RESOLUTION 1/100", "RESOLUTION", "10ms")
    for who in (CHECK, coarse, script):
        runs["hot, no limit", who.name] = lambda who=who: bench.hot(who, limit=NEVER_FULL)
    for live, keys in ((1_000, 500), (100_000, 5)):
        for who in (CHECK, script):
            runs[f"dense, {live:,} live", who.name] = lambda who=who, live=live, keys=keys: bench.dense(
                who, keys=keys, live=live, calls=100_000
            )
    for live in (1_000, 100_000, MILLION):
        for state in ("admitted", "refused"):
            runs[f"growth, {state}", f"{live:,} live"] = lambda live=live, state=state: big.grown(
                live, state == "refused", bench.calls(50_000)
            )
    return runs


def compare(server: Server) -> list[Contestant]:
    """CHECK, the script, and the peer where there is one."""
    with open(contestants.SCRIPT) as file:
        compared = [CHECK, contestants.script(server.client.script_load(file.read()))]
    if command := os.environ.get("PEER_COMMAND"):
        compared.append(contestants.peer(command))
    return compared


def measure_sizes(server: Server, compared: list[Contestant]) -> dict:
    """Bytes: memory per admission, replication per call."""
    with Server("--replicaof", "127.0.0.1", str(server.port)) as replica:
        replication = sizes.Replication(server, replica)
        cases = ("single", "burst", "steady", "dense", "refused")
        everyone = (*compared, sizes.MULTI)
        per_call = {case: {who.name: getattr(replication, case)(who) for who in everyone} for case in cases}
    memory = {
        str(admissions): {who.name: sizes.memory(server, who, admissions) for who in compared if who.load}
        for admissions in (100, 10_000)
    }
    return {"memory_bytes_per_admission": memory, "replication_bytes_per_call": per_call}


def about(options: argparse.Namespace) -> dict:
    """Where and how the figures were found."""
    with open("/proc/cpuinfo") as file:
        processor = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    rustc = subprocess.run(("rustc", "--version"), capture_output=True, text=True).stdout.strip()
    version = subprocess.check_output((SERVER, "--version"), text=True).split(" sha=")[0]
    return {
        "server": version,
        "rustc": rustc,
        "module": os.path.basename(MODULE),
        "peer": os.environ.get("PEER_COMMAND"),
        "processor": f"{processor}, {len(drive.CORES)} cores, {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
        "connections": drive.CONNECTIONS,
        "pipeline": drive.PIPELINE,
        "scale": options.scale,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--scale", type=float, default=1, help="share of the calls: 0.01 to try the bench out")
    options.add_argument("--seconds", type=int, default=480, help="begins no round that would end later")
    options.add_argument("--out", default=os.path.join(HERE, "results"))
    options = options.parse_args()

    peer = os.environ.get("PEER_MODULE")
    options_of_server = ["--loadmodule", str(bare_module())]
    if peer:
        options_of_server += ["--loadmodule", os.path.abspath(peer)]
    # Quiet: nothing but what is measured.
    options_of_server += ["--repl-ping-replica-period", "3600", "--slowlog-log-slower-than", "-1"]
    options_of_server += ["--repl-diskless-sync-delay", "0"]
    results = {"about": about(options)}

    # Not pinned: the server frees large values in a thread of its own.
    with Server(*options_of_server) as server:
        say("bytes of memory and replication")
        compared = compare(server)
        results |= measure_sizes(server, compared)
        say("the slowest call when a million entries have expired")
        big = Big(server)
        results["slowest_call_us"] = {
            who.name: {share: [big.slowest_us(who, share == "half") for _ in range(3)] for share in ("all", "half")}
            for who in compared[:2]
        }

    # Each round has a server of its own: where a process lies in memory is worth some percent.
    pinned = functools.partial(Server, *options_of_server, wrapper=drive.SERVER_CORE)
    with pinned() as server:
        say("without pipeline")
        compared = compare(server)
        single_runs = plan(Bench(server, options.scale / 6, pipeline=1), compared)
        single_runs = {case: run for case, run in single_runs.items() if case[1] != "MULTI/EXEC"}
        results["no_pipeline"] = as_json(run_all(single_runs, {}))

    found: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    known = Known({}, {})
    longest = 0.0
    for at in range(options.rounds):
        if time.monotonic() - BEGAN + longest > options.seconds:
            say(f"no time for more than {at} rounds")
            break
        say(f"round {at + 1} of {options.rounds}")
        start = time.monotonic()
        with pinned() as server:
            compared = compare(server)
            bench = Bench(server, options.scale, known=known)
            run_all({**turned(plan(bench, compared), at), **further(bench, Big(server), compared[1])}, found)
        longest = max(longest, time.monotonic() - start)
    results["workloads"] = as_json(found)
    results["units_after_dense"] = {f"{live:,}": found for live, found in known.live.items()}

    results["ratios"] = report.ratios(results)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "results.json"), "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    table = report.table(results)
    with open(os.path.join(options.out, "table.md"), "w") as file:
        file.write(table)
    chart.draw(results, os.path.join(options.out, "chart.svg"))
    print(table)
    say(f"written to {options.out}")


def turned(runs: dict, by: int) -> dict:
    """Another contestant of each workload comes first: it pays for the memory that the others find ready."""
    order = []
    for _, group in itertools.groupby(runs, key=lambda case: case[0]):
        cases = list(group)
        first = by % len(cases)
        order += cases[first:] + cases[:first]
    return {case: runs[case] for case in order}


def run_all(runs: dict, found: dict) -> dict:
    """One round, added to what was found."""
    for case, run in runs.items():
        found.setdefault(case, []).append(run())
    return found


def as_json(found: dict) -> dict:
    """workload -> contestant -> the rounds."""
    workloads: dict = {}
    for (workload, name), figures in found.items():
        workloads.setdefault(workload, {})[name] = {
            "usec": [round(one.usec, 3) for one in figures],
            "cpu_usec": [round(one.cpu_usec, 3) for one in figures],
            "rps": [round(one.rps) for one in figures],
        }
    return workloads


def say(text: str) -> None:
    print(f"bench: {time.monotonic() - BEGAN:4.0f} s: {text}", flush=True)


if __name__ == "__main__":
    main()
