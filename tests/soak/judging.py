"""Whether a process that did much holds more than before."""

# A process at rest is not one and the same twice: a few last runs, what is made at its first use.
SOME, SHARE = 100, 0.1  # of objects, and of Qt's own windows: a list that drops down is one
MANY = 3000  # of what belongs to nobody: a module that is imported late brings thousands
NAMED = ("kernels.", "workbench.", "PySide6.", "pyqtgraph.")
FEW = 8  # of threads and open files: pools and event loops begin when they are needed
# In the first minutes the heap still finds its size, in which much comes and goes: 40 MiB more in
# two of them were seen, and 22 in the last forty of an hour.
RSS_MIB, RSS_SHARE = 96, 0.1
# The measuring's own: Qt deletes a text's frames without a word to Python.
OURS = {"PySide6.QtGui.QTextFrame"}


def grown(before, after):
    """One sentence for each kind of thing of which there is more, and more than by chance.

    Of the program's own windows there may be none more.
    """
    counts = before.counts
    found = [
        f"{kind} {name}: {counts.get((kind, name), 0)} became {n}"
        for (kind, name), n in sorted(after.counts.items())
        if name not in OURS
        and n - counts.get((kind, name), 0) > _slack(kind, name, counts.get((kind, name), 0))
    ]
    if after.rss_mib > before.rss_mib + max(RSS_MIB, RSS_SHARE * before.rss_mib):
        found.append(f"memory: {before.rss_mib:.0f} MiB became {after.rss_mib:.0f} MiB")
    return found


def most_grown(before, after, most=12):
    """{what: how many more}, for a person to look at, however few."""
    counts = before.counts
    more = {
        f"{kind} {name}": n - counts.get((kind, name), 0)
        for (kind, name), n in after.counts.items()
    }
    return dict(sorted(more.items(), key=lambda each: -each[1])[:most])


# A chart keeps the axes and labels of the largest that it has drawn, which hold a few points each,
# and what can be pointed at in its last drawing.
# The grid of weights has a tint for each cell, and up to 31 × 31 of those.
BOUNDED = {
    "pyqtgraph.Point.Point": 300,
    "workbench.charts.data.figure.Spot": 1200,
    "PySide6.QtGui.QColor": 31 * 31,
}


def _slack(kind, name, was):
    if name in BOUNDED:
        return BOUNDED[name]
    if kind in ("open file", "thread"):
        return FEW
    if kind == "window" and not name.startswith("PySide6."):
        return 0
    is_named = kind != "Python object" or name.startswith(NAMED)
    return max(SOME if is_named else MANY, SHARE * was)
