# SPDX-License-Identifier: Apache-2.0
"""Makes the page of measured figures, with plots, from what `mlmargin_bench --json` wrote.

Usage: report.py <figures.json> [<figures of module_bench.py>] <page.md>

The plots go to a folder named as the page without its ending. What stands in the page between the
two marks of the hand-written part stays.
"""

import json
import sys
import textwrap
from pathlib import Path

import plots

BEGIN, END = "<!-- begin: written by hand -->", "<!-- end -->"
TITLES = {
    "published": "Published data sets",
    "trained": "Scores of a trained model",
    "half-dense": "Half of the classes are labels",
    "tiny": "Tiny rows",
}
TEXTS = {
    "published": "The numbers of classes and mean labels are those of the Extreme Classification "
                 "Repository; scores are N(0, 1), labels uniformly drawn.",
    "trained": "The same, but labels are N(2, 1) and all others N(-4, 1).",
    "half-dense": "Many labels: a double loop over labels and classes is quadratic here.",
    "tiny": "Rows so short that what is done once a row counts.",
}


def time(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            break
    value = seconds / scale
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def ratio(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def size(count):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}"
        count /= 1024
    return ""


def gigabytes_per_second(case):
    value = case["bytes_per_second"] * 1e-9
    return f"{value:.1f}" if value >= 0.1 else f"{value:.1g}"


def paragraph(text, first="", rest=""):
    """Lines of the page's width."""
    return textwrap.wrap(text, 100, initial_indent=first, subsequent_indent=rest,
                         break_long_words=False, break_on_hyphens=False)


def shape(case):
    return f"{case['rows']:,} × {case['classes']:,}"


def table(headings, rows):
    """Text on the left, all else on the right."""
    marks = ["---" if i == 0 else "---:" for i in range(len(headings))]
    return ["| " + " | ".join(cells) + " |" for cells in [headings, marks, *rows]]


class Figures:
    def __init__(self, data, module):
        self.module = module
        self.machine = data["machine"]
        self.small_call = data["small_call"]
        self.min_turns = data["min_turns"]
        self.cases = data["cases"]

    def of(self, group, types=("float32", "int64"), passes=("loss",)):
        return [
            case for case in self.cases
            if case["group"] == group and (case["score_type"], case["label_type"]) == types
            and case["pass"] in passes
        ]


def machine_part(figures):
    machine = figures.machine
    pytorch = machine["pytorch"] or "not installed"
    rows = [("CPU", f"{machine['cpu']}, {machine['architecture']}"),
            ("CPUs used", str(machine["cpus"])),
            ("Memory", size(machine["memory_bytes"]))]
    if machine["l2_bytes"]:
        caches = (size(machine["l2_bytes"]), size(machine["l3_bytes"]))
        rows.append(("L2 and L3 cache", ", ".join(caches)))
    rows += [("Kernel", machine["kernel"]),
             ("Compiler", f"{machine['compiler']}, {machine['build_type']}"),
             ("SIMD target", machine["target"]), ("mlmargin", machine["version"]),
             ("PyTorch", pytorch), ("Date", machine["date"])]
    return ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)]


def pytorch_cells(case):
    pytorch = case["pytorch"]
    if not pytorch:
        return ["-", "-"]
    scaled = "\\*" if pytorch["rows"] < case["rows"] else ""
    return [time(pytorch["seconds"]) + scaled, ratio(pytorch["speed_up"])]


def extra_memory(case):
    extra = case["peak_extra_bytes"]
    return "-" if extra is None else size(extra)


def scaled(cases):
    """Those of which PyTorch was given some rows only."""
    return [case for case in cases if case["pytorch"] and case["pytorch"]["rows"] < case["rows"]]


def case_table(cases):
    rows = []
    for case in cases:
        name = "" if case["name"].isdigit() else case["name"] + ", "
        rows.append([
            name + shape(case), f"{case['labels']:,}", str(case["threads"]), time(case["seconds"]),
            time(case["floor_seconds"]), time(case["streamed_floor_seconds"]),
            ratio(case["ratio"]), gigabytes_per_second(case), extra_memory(case),
            *pytorch_cells(case)
        ])
    lines = table(["Rows × classes", "Labels", "Threads", "Time", "Floor", "Floor, streamed",
                   "Ratio", "GB/s", "Extra memory", "PyTorch", "Speed-up"], rows)
    short = scaled(cases)
    if short:
        notes = ", ".join(sorted({f"{case['pytorch']['rows']} of the {case['rows']} rows of "
                                  f"{case['classes']:,} classes" for case in short}))
        lines += ["", *paragraph(f"\\* PyTorch was given {notes}, and its time is scaled up.")]
    return lines


def types_table(figures, threads):
    """The time over the floor of each data type; one row a shape."""
    types = [(score, label) for score in ("float32", "float16", "bfloat16")
             for label in ("int64", "int32")]
    found = {}
    for case in figures.cases:
        if case["group"] in TITLES and case["threads"] == threads and case["pass"] == "loss":
            key = (case["group"], case["name"])
            row = found.setdefault(key, {"case": case})
            row[case["score_type"], case["label_type"]] = case
    rows = []
    for (group, name), row in found.items():
        label = shape(row["case"]) + (", trained" if group == "trained" else "")
        cells = [label, f"{row['case']['labels']:,}"]
        for kind in types:
            case = row.get(kind)
            cells.append(f"{time(case['seconds'])} ({ratio(case['ratio'])})" if case else "-")
        rows.append(cells)
    return table(["Rows × classes", "Labels", *("/".join(kind) for kind in types)], rows)


def gradients_part(figures, threads):
    """Backward and fused passes of each shape beside the loss, all over the floor."""
    rows = []
    for group in TITLES:
        by_name = {}
        for case in figures.of(group, passes=("loss", "backward", "fused")):
            if case["threads"] == threads:
                by_name.setdefault(case["name"], {})[case["pass"]] = case
        for passes in by_name.values():
            if len(passes) < 3:
                continue
            loss = passes["loss"]
            cells = [shape(loss) + (", trained" if group == "trained" else ""),
                     f"{loss['labels']:,}", ratio(loss["ratio"])]
            for name in ("backward", "fused"):
                case = passes[name]
                cells += [time(case["seconds"]), ratio(case["ratio"]),
                          ratio(case["ratio"] / loss["ratio"])]
            rows.append(cells)
    if not rows:
        return []
    text = ("*Backward* reads the scores and writes the gradient; *fused* computes the loss as "
            "well, in the same pass. Their floor is that of the loss: as much is read and written. "
            "*To the loss* is their ratio to the floor over that of the loss with its mask. "
            f"float32, int64 labels, {threads_name(threads)}.")
    headings = ["Rows × classes", "Labels", "Loss, ratio", "Backward", "Ratio", "To the loss",
                "Fused", "Ratio", "To the loss"]
    return ["", "## Gradients", "", *paragraph(text), "", *table(headings, rows)]


def module_part(figures):
    if not figures.module:
        return []
    text = ("`mlmargin.MultiLabelMarginLoss` beside `torch.nn.MultiLabelMarginLoss` on the same "
            "tensors, labels padded to the shape of the scores: forward and backward, one thread "
            "each, memory for the results included. Minima over turns.")
    rows = []
    for one in figures.module["shapes"]:
        ours = one["forward_seconds"] + one["backward_seconds"]
        theirs = one["pytorch_forward_seconds"] + one["pytorch_backward_seconds"]
        rows.append([shape(one), f"{one['labels']:,}", time(ours), time(theirs),
                     ratio(one["speed_up"])])
    lines = ["", "## The PyTorch module", "", *paragraph(text), ""]
    lines += table(["Rows × classes", "Labels", "Here", "PyTorch", "Speed-up"], rows)
    call = figures.module["small_call"]
    rows = [["forward", time(call["seconds"]), time(call["pytorch_seconds"])],
            ["forward and backward", time(call["training_seconds"]),
             time(call["pytorch_training_seconds"])]]
    lines += ["", "What a call costs when there is nothing to compute, 2 × 3 scores:", ""]
    return lines + table(["Call of the module", "Here", "PyTorch"], rows)


def small_call_part(figures):
    call = figures.small_call
    if not call:
        return []
    text = ("2 × 3 scores, from the call to the result, one thread: what a call costs when there "
            "is nothing to compute. For the aclnn operator that is phase 1, phase 2 and the wait "
            "for the stream, called from C++; for PyTorch it is the call from Python.")
    lines = ["", "## One small call", "", *paragraph(text), ""]
    rows = [["`aclnnMultilabelMarginLoss`", time(call["seconds"])]]
    if call["pytorch"]:
        rows += [["`torch.ops.aten.multilabel_margin_loss_forward`",
                  time(call["pytorch"]["operator_seconds"])],
                 ["`torch.nn.functional.multilabel_margin_loss`",
                  time(call["pytorch"]["functional_seconds"])]]
    return lines + table(["Call", "Time"], rows)


def labels_plot(figures):
    cases = figures.of("labels")
    if len(cases) < 2:
        return None

    def per_class(case, seconds):
        return (case["labels"], seconds * 1e9 / (case["rows"] * case["classes"]))

    series = []
    pytorch = [per_class(case, case["pytorch"]["seconds"]) for case in cases if case["pytorch"]]
    if pytorch:
        series.append(plots.Series("PyTorch", pytorch, plots.COLORS[1]))
    series.append(plots.Series("mlmargin", [per_class(case, case["seconds"]) for case in cases],
                               plots.COLORS[0]))
    series.append(plots.Series("floor",
                               [per_class(case, case["floor_seconds"]) for case in cases],
                               plots.GREY, dashed=True, dots=False))
    labels = [case["labels"] for case in cases]
    ticks = [(n, f"{n:,}") for n in (1, 4, 16, 64, 256, 1024, 4096)
             if min(labels) <= n <= max(labels)]
    x_axis = plots.Axis("labels of a row", min(labels) * 0.9, max(labels) * 1.1, True, ticks)
    y_axis = plots.decades("time per class, ns", [y for one in series for _, y in one.points])
    return plots.lines(
        "Time per class against the number of labels",
        f"{shape(cases[0])} scores, float32, int64 labels, one thread", x_axis, y_axis, series)


def ratio_plot(figures):
    rows = {}
    for group in TITLES:
        for case in figures.of(group):
            name = f"{shape(case)}, {case['labels']:,}"
            if group == "trained":
                name += ", trained"
            rows.setdefault(name, {})[case["threads"]] = case["ratio"]
    if not rows:
        return None
    counts = sorted({threads for row in rows.values() for threads in row})
    first, second = counts[0], counts[-1] if len(counts) > 1 else None
    values = [value for row in rows.values() for value in row.values()]
    axis = plots.decades("time over that of the floor", [min(1.0, *values), *values])
    points = [plots.Row(name, row[first], row.get(second)) for name, row in rows.items()
              if first in row]
    subtitle = "rows × classes, labels of a row; float32, int64 labels"
    return plots.dots("Ratio to the floor", subtitle, axis, points, threads_name(first),
                      threads_name(second))


def threads_name(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def threads_plot(figures):
    cases = figures.of("threads")
    most = max((case["threads"] for case in cases), default=1)
    if most == 1:
        return None
    series = [plots.Series("ideal", [(1, 1), (most, most)], plots.GREY, dashed=True, dots=False)]
    for name in dict.fromkeys(case["name"] for case in cases):
        own = [case for case in cases if case["name"] == name]
        alone = [case["seconds"] for case in own if case["threads"] == 1]
        if not alone:
            continue
        points = [(case["threads"], alone[0] / case["seconds"]) for case in own]
        series.append(plots.Series(name, points, plots.COLORS[(len(series) - 1) % 6]))
    counts = sorted({case["threads"] for case in cases})
    highest = max(y for one in series for _, y in one.points)
    step = max(1, -(-int(highest) // 8))
    y_ticks = [(n, str(n)) for n in range(0, int(highest) + 1, step)]
    return plots.lines("Scaling with threads", "float32, int64 labels",
                       plots.Axis("threads", 0.8, most + 0.2, False, [(n, str(n)) for n in counts]),
                       plots.Axis("speed-up over one thread", 0, highest * 1.05, False, y_ticks),
                       series)


PLOTS = [("labels.svg", "Time per class against the number of labels", labels_plot),
         ("ratio.svg", "Ratio to the floor, for each shape", ratio_plot),
         ("threads.svg", "Speed-up over one thread against the number of threads", threads_plot)]


def plots_part(figures, folder):
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, words, draw in PLOTS:
        (folder / name).unlink(missing_ok=True)
        svg = draw(figures)
        if svg is None:
            continue
        (folder / name).write_text(svg, encoding="utf-8")
        lines += ["", f"![{words}]({folder.name}/{name})"]
    short = [f"{case['pytorch']['rows']} at {case['labels']:,}" for case in
             scaled(figures.of("labels"))]
    if short:
        text = ("Where a call of PyTorch on all rows would take too long, it was given some of "
                f"them and its time is scaled up: {', '.join(short)} labels.")
        lines += ["", *paragraph(text)]
    return ["", "## Plots", *lines] if lines else []


def intro(figures):
    lines = [
        "<!-- Made by script/bench; only the part between the marks below is written by hand. -->",
        "# Performance", ""
    ]
    lines += paragraph(
        "`script/bench` measures and writes this page, its plots and [all figures as JSON]"
        "(performance/figures.json); for figures worth keeping, on an idle machine.")
    lines.append("")
    for text in (
            "*Time* is one call of the C++ API on data in memory: the mean loss and the mask.",
            "*Floor* is the fastest way found, in the same run, to read the scores once and to "
            "write a mask with ordinary stores: interleaved, in blocks or as a copy, on one thread "
            "or as many as the call may use. It leaves out the labels, of which the call reads at "
            "least a cache line a row. *Ratio* is time over floor.",
            "*Floor, streamed* is the same with stores past the caches. For data that the caches "
            "do not hold it is up to twice as low, but whoever reads the mask has to fetch it from "
            "memory again. The call itself writes only masks of 32 MiB and more like this.",
            "*GB/s* counts the scores and the mask.",
            "*Extra memory* is the most that the call takes from the heap at one time. The "
            "caller's scratch of 8 bytes a row comes on top.",
            "*PyTorch* is `torch.nn.functional.multilabel_margin_loss` on the same data, which "
            "computes the same mask, in memory that it allocates itself. It uses one thread, "
            "whatever it may. *Speed-up* is its time "
            "over ours."):
        lines += paragraph(text, "- ", "  ")
    lines.append("")
    lines += paragraph(
        f"All times are minima over at least {figures.min_turns} turns, in which the contenders "
        "take part one after the other; over fewer where a turn takes seconds, and over up to 5 "
        "for PyTorch. A contender runs twice or more in its turn, so it also meets the data in the "
        "caches as itself leaves them; the call runs as often as the floor's ways together where "
        "that is not long, and the streamed floor comes last.")
    lines.append("")
    return lines


def hand_written(page):
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        return "\n"
    return text[begin + len(BEGIN):end]


def write_page(figures, page):
    kept = hand_written(page)
    lines = intro(figures) + machine_part(figures)
    for group, title in TITLES.items():
        cases = figures.of(group)
        if cases:
            text = TEXTS[group] + " float32 scores, int64 labels."
            lines += ["", f"## {title}", "", *paragraph(text), "", *case_table(cases)]
    lines += gradients_part(figures, 1)
    lines += module_part(figures)
    lines += small_call_part(figures)
    lines += plots_part(figures, page.with_suffix(""))
    counts = sorted({case["threads"] for case in figures.cases if case["group"] in TITLES})
    if counts:
        lines += ["", "## All data types", "", "Time, and in brackets its ratio to the floor."]
    for threads in counts:
        lines += ["", f"### {threads_name(threads)}", "", *types_table(figures, threads)]
    lines += ["", "## Scaling model", "", BEGIN + kept + END]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    *sources, page = map(Path, sys.argv[1:])
    data = [json.loads(source.read_text(encoding="utf-8")) for source in sources]
    figures = Figures(data[0], data[1] if len(data) > 1 else None)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_page(figures, page)


if __name__ == "__main__":
    main()
