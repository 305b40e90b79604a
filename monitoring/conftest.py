"""The closing line that scripts/test.sh adds up."""


def pytest_terminal_summary(terminalreporter):
    passed, failed, errors = (len(terminalreporter.stats.get(kind, ())) for kind in ("passed", "failed", "error"))
    terminalreporter.write_line(f"{passed} passed, {failed + errors} failed")
