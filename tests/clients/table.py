"""table.json for the Python clients: what each answer must be."""

import json
from pathlib import Path

CASES = json.loads(Path(__file__).with_name("table.json").read_text())["cases"]


def fits(want, got):
    """Whether the answer is what the table says; its receipt, if it holds one."""
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(fits, want, got))
    if want == "receipt":
        return type(got) is int and 2**50 < got < 2**53
    if isinstance(want, int):
        return type(got) is int and got == want
    if want[0] == "~":
        return type(got) is int and int(want[1:]) - 20_000 <= got <= int(want[1:]) + 1
    return isinstance(got, Exception) and want[1:] in str(got)


def batches(rows):
    """The rows, cut before each that needs a receipt: those between can go to the server together."""
    batch = []
    for command, want in rows:
        if "$receipt" in command and batch:
            yield batch
            batch = []
        batch.append((command.split(" "), want))
    yield batch


def failures(case, run):
    """The rows of the case that are not answered as they should. run(key, commands) answers a reply, or an
    exception, for each command."""
    key, receipt, failed = f"clé:{case['case']}", None, []
    for batch in batches(case["rows"]):
        commands = [[{"k": key, "$receipt": receipt}.get(word, word) for word in words] for words, _ in batch]
        for (words, want), got in zip(batch, list(run(key, commands)), strict=True):
            if not fits(want, got):
                failed.append(f"{' '.join(words)}: {got!r}, want {want!r}")
            if "RECEIPT" in words:
                receipt = got[0] if isinstance(got, list) else got
    return failed
