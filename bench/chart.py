"""The chart: µs per call of each contestant, one panel a workload."""

from statistics import median

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

import report  # noqa: E402

TITLES = {
    "sparse": "sparse: 100,000 keys, 6 admissions each",
    "dense": "dense: 5,000 keys, 100 live entries each",
    "refused": "refused: 10 keys, full",
    "hot": "hot: one key, 100,000 per second",
}
OURS, OTHERS, FLOORS = "#c0392b", "#7f8c8d", "#d5dbdb"
FLOOR_NAMES = (report.BARE, "ZADD + PEXPIRE", "ZCARD", "PING")


def draw(results: dict, path: str) -> None:
    """Writes an SVG; the same figures give the same bytes."""
    plt.rcParams.update({"svg.hashsalt": "slidewin", "svg.fonttype": "none", "font.size": 9})
    figure, panels = plt.subplots(2, 2, figsize=(9.5, 4.8))
    for workload, panel in zip(TITLES, panels.flat):
        figures = results["workloads"][workload]
        names = [name for name in figures if name not in FLOOR_NAMES] + [n for n in FLOOR_NAMES if n in figures]
        usec = [median(figures[name]["usec"]) for name in names]
        low = [middle - min(figures[name]["usec"]) for name, middle in zip(names, usec)]
        high = [max(figures[name]["usec"]) - middle for name, middle in zip(names, usec)]
        colors = [OURS if n == "CHECK" else FLOORS if n in FLOOR_NAMES else OTHERS for n in names]
        labels = [report.shown(name, results) for name in names]
        bars = panel.barh(labels, usec, color=colors, xerr=(low, high), ecolor="#555555", error_kw={"linewidth": 0.8})
        panel.bar_label(bars, fmt="%.2f", padding=6)
        panel.margins(x=0.18)
        panel.invert_yaxis()
        panel.set_title(TITLES[workload], loc="left", fontsize=9, fontweight="bold")
        panel.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("µs in the server per call: median, lowest and highest round. Shorter is better", fontsize=9)
    figure.tight_layout()
    # A white ground: the text would vanish on a dark page.
    figure.savefig(path, facecolor="white", metadata={"Date": None})
