"""Starts the servers, runs each client's tests against them and counts the lines that begin with `ok` or `FAILED`.

usage: run.py NAME COMMAND... [-- NAME COMMAND...]...
"""

import os
import subprocess
import sys
import time

from servers import Cluster, Server


def programs(arguments):
    program = []
    for argument in [*arguments, "--"]:
        if argument != "--":
            program.append(argument)
        elif program:
            yield program[0], program[1:]
            program = []


def run(command, server, cluster):
    """Its passed and failed tests. A program that ends badly, hangs or tests nothing has one failed test more."""
    server.command("FLUSHALL")
    environment = {**os.environ, "REDIS_URL": server.url, "REDIS_CLUSTER": cluster.addresses}
    process = subprocess.run(["timeout", "120", *command], env=environment, stdout=subprocess.PIPE, text=True)
    lines = process.stdout.splitlines()
    passed = sum(line.startswith("ok ") for line in lines)
    failed = [line for line in lines if line.startswith("FAILED ")]
    if not failed and (process.returncode or not passed):
        failed.append(f"FAILED exit code {process.returncode} after {passed} tests:\n{process.stdout}")
    print(*failed, sep="\n", end="\n" if failed else "")
    return passed, len(failed)


def main():
    passed = failed = 0
    with Server() as server, Cluster() as cluster:
        for name, command in programs(sys.argv[1:]):
            begin = time.monotonic()
            counts = run(command, server, cluster)
            print(f"{name}: {counts[0]} passed, {counts[1]} failed in {time.monotonic() - begin:.1f} s", flush=True)
            passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
