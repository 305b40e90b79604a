"""Runs the files of this directory with a real server, exporter and Prometheus. scripts/test-monitoring.sh calls it.

The alerts are the real ones on a shorter clock: in the rules and in the dashboard's ranges, minutes become seconds and
hours become minutes (`on_short_clock`). The user, the exporter's script and Prometheus' settings are those of README.md.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import traceback
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
README = (HERE / "README.md").read_text()
SERVER = os.environ.get("REDIS_SERVER", "redis-server")
MODULE = os.environ["SLIDEWIN_MODULE"]
DIR = Path(tempfile.mkdtemp(prefix="slidewin-monitoring-"))
SELECTOR = re.compile(r"\bredis_[a-z0-9_]+(?:\{[^}]*\})?")

processes = []
tests = []


def test(function):
    tests.append(function)
    return function


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def start(name, *command):
    """Starts a process; `stop_all` ends it."""
    with open(DIR / f"{name}.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=DIR)
    processes.append((name, process))


def stop_all():
    for _, process in reversed(processes):
        process.terminate()
    for _, process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(what, ask, seconds=30):
    """Asks again until the answer is truthy: that answer."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer = ask()
        except OSError as error:
            answer, what = None, f"{what} ({error})"
        if answer:
            return answer
        for name, process in processes:
            if process.poll() is not None:
                raise AssertionError(f"{name} has ended:\n{(DIR / f'{name}.log').read_text()}")
        assert time.monotonic() < deadline, f"waited {seconds} s in vain: {what}"
        time.sleep(0.2)


def get(url, **query):
    if query:
        url += "?" + urllib.parse.urlencode(query)
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read().decode()


def on_short_clock(text):
    hours_are_minutes = re.sub(r"\b(\d+)h\b", r"\1_minutes", text)
    return re.sub(r"\b(\d+)m\b", r"\1s", hours_are_minutes).replace("_minutes", "m")


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


class Redis:
    """The server, by redis-cli."""

    def __init__(self):
        self.port = free_port()
        start("redis", SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--loadmodule", MODULE)
        wait_for("the server answers", lambda: "PONG" in self.cli("PING"))

    def cli(self, *words):
        beside = Path(SERVER).with_name("cli")
        program = str(beside) if beside.exists() else "redis-cli"
        done = subprocess.run([program, "-p", str(self.port), *words], capture_output=True, text=True, timeout=20)
        return done.stdout

    def lines(self, text):
        """Sends commands, one a line, over one connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(text.encode() + b"QUIT\n")
            while connection.recv(65536):
                pass


class Traffic(threading.Thread):
    """Calls of every command, five times a second, with `refused` refusals and `wrong` errors each time."""

    def __init__(self, redis):
        super().__init__(daemon=True)
        self.redis, self.refused, self.wrong, self.stopped = redis, 1, 0, threading.Event()

    def run(self):
        while not self.stopped.wait(0.2):
            self.redis.lines(
                "SLIDEWIN.CHECK ip:well 1h 1000000\n" * 2
                + "SLIDEWIN.PEEK ip:well 1h 1000000\nSLIDEWIN.REFUND ip:well 1\n"
                + "SLIDEWIN.CHECK ip:192.0.2.7 1h 0\n" * self.refused
                + "SLIDEWIN.CHECK ip:well 1h x\n" * self.wrong
            )


def metrics(port):
    """What an exporter shows: from `name{labels}` to its value."""
    lines = get(f"http://127.0.0.1:{port}/metrics").splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))


def start_exporter(name, redis, script):
    port = free_port()
    passwords = DIR / "redis-passwords.json"
    address = f"redis://127.0.0.1:{redis.port}"
    passwords.write_text(json.dumps({address: "password"}))
    arguments = re.search(r'ARGS="(.*)"', README)[1]
    arguments = arguments.replace("/etc/prometheus/redis-passwords.json", str(passwords))
    arguments = arguments.replace("/etc/prometheus/slidewin.lua", str(script))
    start(
        name, "prometheus-redis-exporter", "-redis.addr", address,
        "-web.listen-address", f"127.0.0.1:{port}", *arguments.split(),
    )
    wait_for(f"{name} sees the server", lambda: metrics(port).get("redis_up") == "1")
    return port


def query(expr):
    answer = json.loads(get(f"http://127.0.0.1:{prometheus}/api/v1/query", query=expr))
    return answer["data"]["result"]


def firing(alert):
    return query(f'ALERTS{{alertname="{alert}", alertstate="firing"}}')


def dashboard_exprs():
    dashboard = json.loads((HERE / "dashboard.json").read_text())
    return [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel["targets"]]


@test
def the_rules_are_valid_and_pass_their_unit_tests():
    promtool("check", "rules", "alerts.yml")
    promtool("test", "rules", "alerts_test.yml")


@test
def the_dashboard_is_what_grafana_imports():
    dashboard = json.loads((HERE / "dashboard.json").read_text())
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) >= 6
    places = {(x, y) for p in panels for g in [p["gridPos"]]
              for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])}
    assert len(places) == sum(p["gridPos"]["w"] * p["gridPos"]["h"] for p in panels), "panels overlap"
    names = {variable["name"] for variable in dashboard["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(dashboard)))
    assert used == names, (used, names)
    for title, expr in dashboard_exprs():
        assert 'instance=~"$instance"' in expr, title


@test
def the_exporter_shows_every_counter_and_no_name_of_a_key():
    global redis, exporter
    redis = Redis()
    assert "OK" in redis.cli(*re.search(r"ACL SETUSER exporter .*", README)[0].split())
    redis.lines(
        "SLIDEWIN.CHECK k 60 7\n" * 10 + "SLIDEWIN.CHECK k 60 x\n" + "SLIDEWIN.PEEK k 60 7\n" * 2 + "SLIDEWIN.CHECK k\n"
    )
    exporter = start_exporter("exporter", redis, HERE / "slidewin.lua")
    shown = metrics(exporter)
    info = dict(re.findall(r"(slidewin_\w+):(\d+)", redis.cli("INFO", "slidewin_stats")))
    assert len(info) >= 12, info
    for field, value in info.items():
        assert shown.get(f'redis_script_values{{key="{field}"}}') == value, field
    assert [info[f"slidewin_{field}"] for field in ("checks_admitted", "checks_refused", "argument_errors", "peeks")] == [
        "7", "3", "1", "2",
    ]
    assert shown['redis_commands_total{cmd="slidewin.check"}'] == "11"
    assert shown['redis_commands_failed_calls_total{cmd="slidewin.check"}'] == "1"
    assert shown['redis_commands_rejected_calls_total{cmd="slidewin.check"}'] == "1"
    assert float(shown['redis_commands_duration_seconds_total{cmd="slidewin.check"}']) > 0
    assert not [name for name in shown if "slidewin_offender" in name]


@test
def the_rights_of_the_readme_are_all_that_the_exporter_needs():
    log = (DIR / "exporter.log").read_text()
    assert "NOPERM" not in log and "err:" not in log, log
    assert "NOPERM" not in redis.cli("INFO", "errorstats")


@test
def the_exporter_shows_offenders_where_they_are_asked_for():
    global offenders_exporter
    script = DIR / "offenders.lua"
    text, changed = re.subn(r"^local OFFENDERS = 0$", "local OFFENDERS = 10", (HERE / "slidewin.lua").read_text(), flags=re.M)
    assert changed == 1
    script.write_text(text)
    redis.lines('SLIDEWIN.CHECK "ip:\\xff\\x00\\"" 60 0\n' * 2 + "SLIDEWIN.CHECK ip:192.0.2.7 60 0\n" * 5)
    offenders_exporter = start_exporter("offenders-exporter", redis, script)
    shown = metrics(offenders_exporter)
    assert shown.get('redis_script_values{key="slidewin_offender:ip:192.0.2.7"}') == "5", shown
    assert shown.get(r'redis_script_values{key="slidewin_offender:ip:\\xff\\x00\""}') == "2", shown


@test
def nothing_is_alerted_in_steady_traffic():
    global prometheus, traffic
    (DIR / "alerts.yml").write_text(on_short_clock((HERE / "alerts.yml").read_text()))
    config = textwrap.dedent(re.search(r"```yaml\n(.*?)```", README, re.S)[1])
    config = config.replace("15s", "1s").replace("/etc/prometheus", str(DIR))
    config = config.replace("localhost:9121", f"127.0.0.1:{offenders_exporter}")
    (DIR / "prometheus.yml").write_text("global: {evaluation_interval: 1s}\n" + config)
    promtool("check", "config", str(DIR / "prometheus.yml"))
    traffic = Traffic(redis)
    traffic.start()
    prometheus = free_port()
    start(
        "prometheus", "prometheus", f"--config.file={DIR}/prometheus.yml", f"--storage.tsdb.path={DIR}/data",
        f"--web.listen-address=127.0.0.1:{prometheus}", "--log.level=warn",
    )
    wait_for("prometheus is ready", lambda: get(f"http://127.0.0.1:{prometheus}/-/ready"))
    # What the jump is compared with: the hour before the last five minutes, on the short clock.
    known = 'count_over_time(redis_script_values{key="slidewin_checks_refused"}[1m]) > 15'
    wait_for("some history", lambda: query(known), 40)
    rules = json.loads(get(f"http://127.0.0.1:{prometheus}/api/v1/rules"))["data"]["groups"][0]["rules"]
    assert len(rules) == 6 and all(rule["health"] == "ok" for rule in rules), rules
    assert not query("ALERTS"), query("ALERTS")


@test
def every_metric_of_rules_and_dashboard_exists():
    exprs = [expr for _, expr in dashboard_exprs()]
    rules = re.sub(r"^\s*#.*", "", (HERE / "alerts.yml").read_text(), flags=re.M)
    selectors = sorted(set(SELECTOR.findall("\n".join([rules, *exprs]))))
    assert len(selectors) >= 15, selectors
    missing = [selector for selector in selectors if not query(selector.replace("$instance", ".+"))]
    assert not missing, missing


@test
def every_panel_has_data():
    def value_of(expr):
        return query(expr.replace("$instance", ".+").replace("$__rate_interval", "10s"))

    for title, expr in dashboard_exprs():
        values = [float(series["value"][1]) for series in value_of(expr)]
        assert values and not any(value < 0 for value in values), (title, expr, values)


def fires(alert, labels):
    """Waits for the alert and compares its labels, less those of the test's exporter."""
    (alerted,) = wait_for(f"{alert} fires", lambda: firing(alert), 30)
    got = dict(alerted["metric"])
    assert got.pop("instance") == f"127.0.0.1:{offenders_exporter}", got
    del got["__name__"], got["alertstate"], got["alertname"]
    print(f"    {alert} fires: {got}")
    assert got == {"job": "redis", **labels}, got


@test
def a_burst_of_refusals_is_alerted():
    traffic.refused = 100
    fires("SlidewinRefusalsJump", {"severity": "warning", "key": "slidewin_checks_refused"})
    (offender,) = query('topk(1, redis_script_values{key=~"slidewin_offender:.+"})')
    assert offender["metric"]["key"] == "slidewin_offender:ip:192.0.2.7", offender


@test
def errors_are_alerted():
    assert not firing("SlidewinErrors"), "the burst is no error"
    traffic.wrong = 50
    fires("SlidewinErrors", {"severity": "warning", "cmd": "slidewin.check"})


@test
def a_log_ahead_of_the_clock_is_alerted():
    assert not firing("SlidewinClockSteppedBack")
    ahead_us = (int(time.time()) + 3600) * 1_000_000
    redis.lines(f"ZADD ahead {ahead_us} 1\nSLIDEWIN.CHECK ahead 60 5\n")
    fires("SlidewinClockSteppedBack", {"severity": "warning", "key": "slidewin_clock_step_backs"})


def main():
    passed = failed = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        for function in tests:
            name = function.__name__.replace("_", " ")
            try:
                function()
            except Exception:
                failed += 1
                print(f"FAIL {name}")
                traceback.print_exc(file=sys.stdout)
            else:
                passed += 1
                print(f"ok   {name}", flush=True)
    finally:
        if "traffic" in globals():
            traffic.stopped.set()
            traffic.join(5)
        stop_all()
        shutil.rmtree(DIR, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
