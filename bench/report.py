"""Medians, spreads and ratios of what was measured; the table of them."""

from statistics import median
from typing import Iterator, NamedTuple


# The contestant that only makes the calls which cannot be left out: what is left to take.
BARE = "bare calls"


class Aim(NamedTuple):
    """A ratio that is aimed at: `left` over `right`, of the same round."""

    workload: str
    name: str
    left: str
    right: str
    aim: float
    figure: str = "usec"
    at_least: bool = True


def faster(workload: str, than: str, aim: float) -> Aim:
    return Aim(workload, f"{than} / CHECK", than, "CHECK", aim)


def dearer(workload: str, what: str, than: str, aim: float) -> Aim:
    return Aim(workload, f"{what} / {than}", what, than, aim, at_least=False)


AIMS = [
    faster("sparse", "script", 3.5),
    faster("dense", "script", 3.3),
    faster("refused", "script", 5),
    faster("hot", "script", 8),
    faster("sparse", "peer", 1.3),
    faster("dense", "peer", 0.7),
    faster("refused", "peer", 1.8),
    faster("hot", "peer", 2),
    faster("sparse", "ZADD + PEXPIRE", 1),
    faster("dense", "ZADD + PEXPIRE", 0.8),
    Aim("refused", "CHECK / ZCARD, calls per second", "CHECK", "ZCARD", 0.5, figure="rps"),
    dearer("options, sparse", "COST 1000000", "COST 1", 1.25),
    dearer("options, sparse", "three windows", "plain", 1.6),
    dearer("options, sparse", "WITHQUOTA", "plain", 1.6),
    dearer("growth, admitted", "1,000,000 live", "1,000 live", 3),
    dearer("growth, refused", "1,000,000 live", "1,000 live", 3),
]


def ratios(results: dict) -> list[dict]:
    """What became of the aims, then of the absolute ones."""
    rows = []
    for aim in AIMS:
        figures = results["workloads"].get(aim.workload, {})
        if aim.left not in figures or aim.right not in figures:
            continue
        one = row(aim.workload, aim.name, of_rounds(figures, aim.left, aim.right, aim.figure), aim.aim, aim.at_least, "x")
        if BARE in figures:
            left, right = (BARE if name == "CHECK" else name for name in (aim.left, aim.right))
            one["bare"] = round(median(of_rounds(figures, left, right, aim.figure)), 3)
        rows.append(one)
    memory, sent = results["memory_bytes_per_admission"], results["replication_bytes_per_call"]
    rows += [
        row("memory", "bytes per admission, 100 in a burst", [memory["100"]["CHECK"]], 9, False, " B"),
        row("memory", "bytes per admission, 10,000 in a burst", [memory["10000"]["CHECK"]], 8, False, " B"),
        row("replication", "bytes per admitted call, sparse, nothing due", [sent["single"]["CHECK"]], 80, False, " B"),
        row("replication", "bytes per admitted call, sparse, 6 in a burst", [sent["burst"]["CHECK"]], 80, False, " B"),
        row("replication", "bytes per admitted call, sparse, 6 over the window", [sent["steady"]["CHECK"]], 80, False, " B"),
        row("replication", "bytes per refused call", [sent["refused"]["CHECK"]], 0, False, " B"),
    ]
    for share, slowest in results["slowest_call_us"]["CHECK"].items():
        rows.append(row("slowest call", f"{share} of 1,000,000 entries expired", [us / 1_000 for us in slowest], 1, False, " ms"))
    return rows


def of_rounds(figures: dict, left: str, right: str, figure: str) -> list[float]:
    """A ratio, of each round."""
    return [a / b for a, b in zip(figures[left][figure], figures[right][figure])]


def row(workload: str, name: str, found: list[float], aim: float, at_least: bool, unit: str) -> dict:
    middle = median(found)
    return {
        "workload": workload,
        "name": name,
        "median": round(middle, 3),
        "spread": [round(min(found), 3), round(max(found), 3)],
        "aim": aim,
        "at_least": at_least,
        "unit": unit,
        "met": middle >= aim if at_least else middle <= aim,
    }


def table(results: dict) -> str:
    """All of it as Markdown."""
    return "\n".join(lines(results)) + "\n"


def lines(results: dict) -> Iterator[str]:
    about, workloads = results["about"], results["workloads"]
    rounds = len(next(iter(next(iter(workloads.values())).values()))["usec"])
    yield f"{about['server']}; {about['rustc']}; {about['processor']}."
    yield (
        f"{about['connections']} connections, pipeline of {about['pipeline']}; median of {rounds} interleaved rounds, "
        "lowest and highest in brackets. µs per call: in the command. Processor µs: of the server's main thread, "
        "parsing, network and replication included."
    )
    if about["peer"]:
        yield f"peer: `{about['peer']}`."
    if about["load_before"] > 1:
        yield f"**The machine was busy with something else (load {about['load_before']:g}): the figures are too high.**"
    if about["scale"] != 1:
        yield f"**A trial with {about['scale']:g} of the calls: its figures say nothing.**"
    for workload, figures in workloads.items():
        single = results["no_pipeline"].get(workload, {})
        # The options of a refused call are compared with the plain one of the same rounds.
        plain = "CHECK" if "CHECK" in figures else next(iter(figures))
        if workload == "options, refused":
            figures = {"CHECK": workloads["refused"]["CHECK"], **figures}
            plain = "CHECK"
        yield ""
        yield f"| {workload} | µs per call | against the first | processor µs | against the first | calls per second |" + (" without pipeline: µs | calls per second |" if single else "")
        yield "|---|--:|--:|--:|--:|--:|" + ("--:|--:|" if single else "")
        for name, found in figures.items():
            ratio, cpu = (of_rounds(figures, name, plain, figure) for figure in ("usec", "cpu_usec"))
            cells = [shown(name, results), spread(found["usec"]), f"{median(ratio):.2f}"]
            cells += [f"{median(found['cpu_usec']):.2f}", f"{median(cpu):.2f}", f"{median(found['rps']):,.0f}"]
            if single:
                one = single.get(name)
                cells += [f"{one['usec'][0]:.2f}", f"{one['rps'][0]:,}"] if one else ["", ""]
            yield "| " + " | ".join(cells) + " |"
    yield ""
    for live, entries in results["units_after_dense"].items():
        counted = ", ".join(f"{name} {count:,}" for name, count in entries.items())
        yield f"Units per key after the last dense run, where {live} should be live: {counted}.  "
    yield from bytes_and_pauses(results)
    yield ""
    yield "| aim | | found | aimed at | | with the bare calls in place of CHECK |"
    yield "|---|---|--:|--:|---|--:|"
    for one in results["ratios"]:
        sign = "≥" if one["at_least"] else "≤"
        found = f"{one['median']:.2f}{one['unit']}"
        if one["spread"][0] != one["spread"][1]:
            found += f" ({one['spread'][0]:.2f}-{one['spread'][1]:.2f})"
        bare = f"{one['bare']:.2f}x" if "bare" in one else ""
        yield f"| {one['workload']} | {one['name'].replace('peer', shown('peer', results))} | {found} | {sign} {one['aim']:g}{one['unit']} | {'met' if one['met'] else '**missed**'} | {bare} |"


def bytes_and_pauses(results: dict) -> Iterator[str]:
    memory, sent = results["memory_bytes_per_admission"], results["replication_bytes_per_call"]
    slowest = results["slowest_call_us"]
    names = list(sent["burst"])
    rows = {
        "memory per admission, 100 in a burst (B)": memory["100"],
        "memory per admission, 10,000 in a burst (B)": memory["10000"],
        "replication per admitted call, sparse, nothing due (B)": sent["single"],
        "replication per admitted call, sparse, 6 in a burst (B)": sent["burst"],
        "replication per admitted call, sparse, 6 over the window (B)": sent["steady"],
        "replication per admitted call, dense (B)": sent["dense"],
        "replication per refused call (B)": sent["refused"],
        "slowest call, 1,000,000 entries expired (ms)": {k: median(v["all"]) / 1_000 for k, v in slowest.items()},
        "slowest call, half of 1,000,000 expired (ms)": {k: median(v["half"]) / 1_000 for k, v in slowest.items()},
    }
    yield ""
    yield "| | " + " | ".join(shown(name, results) for name in names) + " |"
    yield "|---|" + "--:|" * len(names)
    for label, values in rows.items():
        digits = 2 if "(ms)" in label else 1
        cells = [f"{values[name]:.{digits}f}" if name in values else "" for name in names]
        yield f"| {label} | " + " | ".join(cells) + " |"


def shown(name: str, results: dict) -> str:
    """The peer goes by its command."""
    return results["about"]["peer"].split()[0] if name == "peer" and results["about"]["peer"] else name


def spread(values: list[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f}-{max(values):.2f})"
