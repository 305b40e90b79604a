"""Drives a server: redis-benchmark, and redis-cli --pipe for what redis-benchmark cannot send."""

import csv
import dataclasses
import os
import subprocess
import time

from server import Server

CONNECTIONS = 16
PIPELINE = 32
# The server has the first core, what drives it the last.
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE = ("taskset", "-c", str(CORES[0]))
DRIVER_CORE = ("taskset", "-c", str(CORES[-1]))
# redis-benchmark puts 12 digits in its place, below the number of keys.
RANDOM = "__rand_int__"


@dataclasses.dataclass
class Figure:
    """What one run found, per call: µs in the command, µs of processor time of the server. Calls per second."""

    usec: float
    cpu_usec: float
    rps: float


def benchmark(server: Server, argv: list, calls: int, keys: int, pipeline: int = PIPELINE) -> Figure:
    """Sends a command so many times, to random ones of so many keys."""
    cpu_before = start(server)
    command = [*DRIVER_CORE, "redis-benchmark", "-p", server.port, "-c", CONNECTIONS, "-P", pipeline]
    command += ["-n", calls, "-r", keys, "--csv", *argv]
    output = subprocess.check_output([str(part) for part in command], text=True)
    rps = float(list(csv.DictReader(output.splitlines()))[-1]["rps"])
    return figure(server, [str(argv[0])], calls, rps, cpu_before)


def pipe(server: Server, stream: str, commands: list[str], calls: int) -> Figure:
    """Sends a file of commands over one connection, as fast as the server reads it."""
    cpu_before = start(server)
    began = time.monotonic()
    with open(stream, "rb") as file:
        command = [*DRIVER_CORE, "redis-cli", "-p", str(server.port), "--pipe"]
        subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
    return figure(server, commands, calls, calls / (time.monotonic() - began), cpu_before)


def start(server: Server) -> float:
    """Begins a run: clears the statistics, answers the processor time so far."""
    server.client.config_resetstat()
    return cpu_usec(server)


def cpu_usec(server: Server) -> float:
    """Processor time of the server's main thread; of the process where it does not tell (before 7.0)."""
    cpu = server.client.info("cpu")
    return 1e6 * sum(cpu.get(f"used_cpu_{kind}_main_thread", cpu[f"used_cpu_{kind}"]) for kind in ("user", "sys"))


def figure(server: Server, commands: list[str], calls: int, rps: float, cpu_before: float) -> Figure:
    """From the server's own statistics. The run counts only if it saw no error and missed no call."""
    cpu = (cpu_usec(server) - cpu_before) / calls
    stats = server.client.info("commandstats")
    errors = server.client.info("errorstats")
    if errors:
        raise SystemExit(f"bench: {commands}: the server answered {errors}")
    usec = 0.0
    for command in commands:
        of_command = stats.get(f"cmdstat_{command.lower()}", {"calls": 0})
        if of_command["calls"] < calls:
            raise SystemExit(f"bench: {command} ran {of_command['calls']} times, not {calls}")
        usec += of_command["usec"] / of_command["calls"]
    return Figure(usec, cpu, rps)
