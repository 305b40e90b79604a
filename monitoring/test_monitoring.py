"""Runs the files of this directory with a real server, exporter and Prometheus. scripts/test-monitoring.sh calls it.

The alerts are the real ones on a shorter clock: in the rules and in the dashboard's ranges, minutes become seconds and
hours become minutes (`on_short_clock`). The user, the exporter's script and Prometheus' settings are those of README.md.

The versions of exporter and Prometheus are those of the system. What varies between them is read by what it is: the
exporter of Debian 13 adds a label `filename` to each value of a script, so a sample is found by the labels that it must
have, whichever others it has.
"""

import json
import re
import socket
import subprocess
import textwrap
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml
from servers import Server, free_port, wait_until

HERE = Path(__file__).parent
README = (HERE / "README.md").read_text()
COMPOSE = yaml.safe_load((HERE.parent / "compose.yaml").read_text())["services"]
DASHBOARD = json.loads((HERE / "dashboard.json").read_text())
PANEL_EXPRS = [(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]]
# Labels that say where a value came from, not which one it is.
OF_THE_EXPORTER = {"filename"}


class Program:
    """A process that is ended with the test; `log` is where it writes to."""

    def __init__(self, directory, name, *command):
        self.log = directory / f"{name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=directory)

    def wait_for(self, what, ask, seconds=30):
        """Asks again until the answer is truthy: that answer."""

        def asked():
            assert self.process.poll() is None, f"ended before {what}:\n{self.log.read_text()}"
            try:
                return ask()
            except OSError:
                return None

        return wait_until(what, asked, seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Exporter(Program):
    """prometheus-redis-exporter with the arguments of README.md, or others."""

    def __init__(self, directory, name, redis, script, arguments=()):
        self.port = free_port()
        listen = ("-web.listen-address", f"127.0.0.1:{self.port}")
        arguments = arguments or self.of_the_readme(directory, redis, script)
        super().__init__(directory, name, "prometheus-redis-exporter", *listen, *arguments)

    @staticmethod
    def of_the_readme(directory, redis, script):
        address = f"redis://127.0.0.1:{redis.port}"
        passwords = directory / "redis-passwords.json"
        passwords.write_text(json.dumps({address: "password"}))
        arguments = re.search(r'ARGS="(.*)"', README)[1]
        arguments = arguments.replace("/etc/prometheus/redis-passwords.json", str(passwords))
        arguments = arguments.replace("/etc/prometheus/slidewin.lua", str(script))
        return ["-redis.addr", address, *arguments.split()]

    def __enter__(self):
        self.wait_for("the exporter sees the server", lambda: self.value("redis_up") == 1)
        return self

    def samples(self):
        """What it shows, each as (name, labels, value)."""
        for line in get(f"http://127.0.0.1:{self.port}/metrics").splitlines():
            if line and not line.startswith("#"):
                name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
                pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")
                yield name, {label: unescaped(text) for label, text in pairs}, float(value)

    def value(self, name, **labels):
        """The one sample of that name with these labels and perhaps others; None where there is none."""
        found = [value for (got, its, value) in self.samples() if got == name and labels.items() <= its.items()]
        assert len(found) <= 1, (name, labels, found)
        return found[0] if found else None


class Prometheus(Program):
    def __init__(self, directory):
        self.port = free_port()
        super().__init__(
            directory, "prometheus", "prometheus", f"--config.file={directory}/prometheus.yml",
            f"--storage.tsdb.path={directory}/data", f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn",
        )

    def __enter__(self):
        self.wait_for("Prometheus is ready", lambda: get(f"http://127.0.0.1:{self.port}/-/ready"))
        return self

    def query(self, expr):
        answer = json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/query", query=expr))
        return answer["data"]["result"]

    def rules(self):
        (group,) = json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/rules"))["data"]["groups"]
        return group["rules"]

    def firing(self, alert):
        return self.query(f'ALERTS{{alertname="{alert}", alertstate="firing"}}')

    def fires(self, alert, **labels):
        """Waits for the alert and compares its labels, less those that every alert here has."""
        (alerted,) = self.wait_for(f"{alert} fires", lambda: self.firing(alert))
        ignored = {"__name__", "alertname", "alertstate", "instance", "job"} | OF_THE_EXPORTER
        assert {label: text for label, text in alerted["metric"].items() if label not in ignored} == labels


class Traffic(threading.Thread):
    """Calls of every command, five times a second, with `refused` refusals and `wrong` errors each time."""

    def __init__(self, redis):
        super().__init__(daemon=True)
        self.redis, self.refused, self.wrong, self.stopped = redis, 1, 0, threading.Event()

    def run(self):
        while not self.stopped.wait(0.2):
            send(
                self.redis,
                "SLIDEWIN.CHECK ip:well 1h 1000000\n" * 2
                + "SLIDEWIN.PEEK ip:well 1h 1000000\nSLIDEWIN.REFUND ip:well 1\n"
                + "SLIDEWIN.CHECK ip:192.0.2.7 1h 0\n" * self.refused
                + "SLIDEWIN.CHECK ip:well 1h x\n" * self.wrong,
            )

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join(5)


def send(redis, lines):
    """Sends commands, one a line, over one connection."""
    with socket.create_connection(("127.0.0.1", redis.port), timeout=20) as connection:
        connection.sendall(lines.encode() + b"QUIT\n")
        while connection.recv(65536):
            pass


def get(url, **query):
    if query:
        url += "?" + urllib.parse.urlencode(query)
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read().decode()


def unescaped(text):
    """A label's value as Prometheus' text format writes it."""
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def on_short_clock(text):
    hours_are_minutes = re.sub(r"\b(\d+)h\b", r"\1_minutes", text)
    return re.sub(r"\b(\d+)m\b", r"\1s", hours_are_minutes).replace("_minutes", "m")


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("monitoring")


@pytest.fixture(scope="module")
def redis():
    with Server() as server:
        assert server.command(re.search(r"ACL SETUSER exporter .*", README)[0]) == "+OK"
        yield server


@pytest.fixture(scope="module")
def exporter(directory, redis):
    with Exporter(directory, "exporter", redis, HERE / "slidewin.lua") as exporter:
        yield exporter


@pytest.fixture(scope="module")
def offenders_exporter(directory, redis):
    text, changed = re.subn(
        r"^local OFFENDERS = 0$", "local OFFENDERS = 10", (HERE / "slidewin.lua").read_text(), flags=re.M
    )
    assert changed == 1
    script = directory / "offenders.lua"
    script.write_text(text)
    with Exporter(directory, "offenders-exporter", redis, script) as exporter:
        yield exporter


@pytest.fixture(scope="module")
def traffic(redis):
    with Traffic(redis) as traffic:
        yield traffic


@pytest.fixture(scope="module")
def prometheus(directory, offenders_exporter, traffic):
    (directory / "alerts.yml").write_text(on_short_clock((HERE / "alerts.yml").read_text()))
    config = textwrap.dedent(re.search(r"```yaml\n(.*?)```", README, re.S)[1])
    config = config.replace("15s", "1s").replace("/etc/prometheus", str(directory))
    config = config.replace("localhost:9121", f"127.0.0.1:{offenders_exporter.port}")
    (directory / "prometheus.yml").write_text("global: {evaluation_interval: 1s}\n" + config)
    promtool("check", "config", str(directory / "prometheus.yml"))
    with Prometheus(directory) as prometheus:
        # What a jump is compared with: the hour before the last five minutes, on the short clock.
        known = 'count_over_time(redis_script_values{key="slidewin_checks_refused"}[1m]) > 15'
        prometheus.wait_for("some history", lambda: prometheus.query(known), 60)
        yield prometheus


def test_the_rules_are_valid_and_pass_their_unit_tests():
    promtool("check", "rules", "alerts.yml")
    promtool("test", "rules", "alerts_test.yml")


def test_the_dashboard_is_what_grafana_imports():
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) >= 6
    places = {(x, y) for p in panels for g in [p["gridPos"]]
              for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])}
    assert len(places) == sum(p["gridPos"]["w"] * p["gridPos"]["h"] for p in panels), "panels overlap"
    names = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    assert set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(DASHBOARD))) == names
    for title, expr in PANEL_EXPRS:
        assert 'instance=~"$instance"' in expr, title


def test_the_exporter_shows_every_counter_and_no_name_of_a_key(redis, exporter):
    send(
        redis,
        "SLIDEWIN.CHECK k 60 7\n" * 10 + "SLIDEWIN.CHECK k 60 x\n" + "SLIDEWIN.PEEK k 60 7\n" * 2 + "SLIDEWIN.CHECK k\n",
    )
    info = dict(re.findall(r"(slidewin_\w+):(\d+)", redis.command("INFO slidewin_stats")))
    assert len(info) >= 12, info
    for field, value in info.items():
        assert exporter.value("redis_script_values", key=field) == float(value), field
    assert [info[f"slidewin_{field}"] for field in ("checks_admitted", "checks_refused", "argument_errors", "peeks")] == [
        "7", "3", "1", "2",
    ]
    assert exporter.value("redis_commands_total", cmd="slidewin.check") == 11
    assert exporter.value("redis_commands_failed_calls_total", cmd="slidewin.check") == 1
    assert exporter.value("redis_commands_rejected_calls_total", cmd="slidewin.check") == 1
    assert exporter.value("redis_commands_duration_seconds_total", cmd="slidewin.check") > 0
    assert not [labels for _, labels, _ in exporter.samples() if "slidewin_offender" in labels.get("key", "")]


def test_the_rights_of_the_readme_are_all_that_the_exporter_needs(redis, exporter):
    exporter.value("redis_up")
    log = exporter.log.read_text()
    assert "NOPERM" not in log and "err:" not in log, log
    assert "NOPERM" not in redis.command("INFO errorstats")


def test_the_exporter_shows_offenders_where_they_are_asked_for(redis, offenders_exporter):
    send(redis, 'SLIDEWIN.CHECK "ip:\\xff\\x00\\"" 60 0\n' * 2 + "SLIDEWIN.CHECK ip:192.0.2.7 60 0\n" * 5)
    for name, refused in (("ip:192.0.2.7", 5), (r'ip:\xff\x00"', 2)):
        assert offenders_exporter.value("redis_script_values", key=f"slidewin_offender:{name}") == refused, name


def test_the_compose_file_sets_up_the_same(directory):
    """The servers of compose.yaml as far as they can be started without containers: its own arguments, files and rights."""
    module, path, *rest = COMPOSE["redis"]["command"]
    assert (module, Path(path).name) == ("--loadmodule", "libslidewin.so")
    assert rest == ["--user", *re.search(r"ACL SETUSER (exporter .*)", README)[1].split()]
    files = dict(volume.split(":")[:2][::-1] for service in COMPOSE.values() for volume in service.get("volumes", ()))
    for place, file in files.items():
        assert (HERE.parent / file).is_file(), (place, file)
    (directory / "compose.yml").write_text(
        (HERE / "compose/prometheus.yml").read_text().replace("/etc/prometheus/alerts.yml", str(HERE / "alerts.yml"))
    )
    promtool("check", "config", str(directory / "compose.yml"))
    with Server(*rest) as server:
        passwords = directory / "compose-passwords.json"
        address = f"127.0.0.1:{server.port}"
        text = (HERE.parent / files["/etc/exporter/passwords.json"]).read_text()
        passwords.write_text(text.replace("redis:6379", address))
        arguments = [
            argument.replace("redis:6379", address)
            .replace("/etc/exporter/passwords.json", str(passwords))
            .replace("/etc/exporter/slidewin.lua", str(HERE / "slidewin.lua"))
            for argument in COMPOSE["exporter"]["command"]
        ]
        with Exporter(directory, "compose-exporter", server, HERE / "slidewin.lua", arguments) as exporter:
            assert exporter.value("redis_script_values", key="slidewin_checks_admitted") == 0


def test_nothing_is_alerted_in_steady_traffic(prometheus):
    rules = prometheus.rules()
    assert len(rules) == 6 and all(rule["health"] == "ok" for rule in rules), rules
    assert not prometheus.query("ALERTS")


def test_every_metric_of_rules_and_dashboard_exists(prometheus):
    rules = re.sub(r"^\s*#.*", "", (HERE / "alerts.yml").read_text(), flags=re.M)
    text = "\n".join([rules, *(expr for _, expr in PANEL_EXPRS)])
    selectors = sorted(set(re.findall(r"\bredis_[a-z0-9_]+(?:\{[^}]*\})?", text)))
    assert len(selectors) >= 15, selectors
    assert not [selector for selector in selectors if not prometheus.query(selector.replace("$instance", ".+"))]


@pytest.mark.parametrize("title, expr", PANEL_EXPRS, ids=[f"{title}-{nth}" for nth, (title, _) in enumerate(PANEL_EXPRS)])
def test_every_panel_has_data(prometheus, title, expr):
    result = prometheus.query(expr.replace("$instance", ".+").replace("$__rate_interval", "10s"))
    values = [float(series["value"][1]) for series in result]
    assert values and not any(value < 0 for value in values), (expr, values)


def test_a_burst_of_refusals_is_alerted(prometheus, traffic):
    traffic.refused = 100
    prometheus.fires("SlidewinRefusalsJump", severity="warning", key="slidewin_checks_refused")
    (offender,) = prometheus.query('topk(1, redis_script_values{key=~"slidewin_offender:.+"})')
    assert offender["metric"]["key"] == "slidewin_offender:ip:192.0.2.7", offender


def test_errors_are_alerted(prometheus, traffic):
    assert not prometheus.firing("SlidewinErrors"), "the burst is no error"
    traffic.wrong = 50
    prometheus.fires("SlidewinErrors", severity="warning", cmd="slidewin.check")


def test_a_log_ahead_of_the_clock_is_alerted(redis, prometheus):
    assert not prometheus.firing("SlidewinClockSteppedBack")
    ahead_us = (int(time.time()) + 3600) * 1_000_000
    send(redis, f"ZADD ahead {ahead_us} 1\nSLIDEWIN.CHECK ahead 60 5\n")
    prometheus.fires("SlidewinClockSteppedBack", severity="warning", key="slidewin_clock_step_backs")
