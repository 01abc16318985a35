# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG, without any library: lines and dots on linear or logarithmic axes."""

import math
from dataclasses import dataclass, field
from html import escape
from typing import List, Optional, Tuple

# Okabe and Ito's colours, which the colour-blind can tell apart.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
GREY = "#6b7280"
WIDTH = 760
LEFT, RIGHT, TOP, BOTTOM = 80, 24, 64, 60


@dataclass
class Axis:
    label: str
    low: float
    high: float
    logarithmic: bool = False
    ticks: List[Tuple[float, str]] = field(default_factory=list)

    def place(self, value, start, stop):
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return start + (value - low) / (high - low) * (stop - start)


@dataclass
class Series:
    name: str
    points: List[Tuple[float, float]]
    color: str
    dashed: bool = False
    dots: bool = True


def number(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def decades(label, values):
    """A logarithmic axis around the values, ticked at powers of ten or, where few, between them."""
    low = 10.0 ** math.floor(math.log10(min(values)))
    high = 10.0 ** math.ceil(math.log10(max(values) * 1.0001))
    steps = (1, 2, 5) if math.log10(high / low) < 3.5 else (1,)
    ticks = []
    decade = low
    while decade <= high * 1.001:
        ticks += [(decade * step, number(decade * step)) for step in steps]
        decade *= 10
    # Not the whole last decade where the values end early in it.
    ends = [value for value, _ in ticks if value >= max(values)]
    begins = [value for value, _ in ticks if value <= min(values)]
    low, high = max(begins), min(ends)
    ticks = [tick for tick in ticks if low <= tick[0] <= high * 1.001]
    return Axis(label, low, high, True, ticks)


class Drawing:
    def __init__(self, height, title, subtitle):
        self.height = height
        self.parts = []
        self.text(LEFT, 24, title, size=16, weight="bold")
        self.text(LEFT, 44, subtitle, color=GREY)
        self.title = title

    def text(self, x, y, text, size=12, anchor="start", color="#111827", weight="normal", turn=0):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
                          f'text-anchor="{anchor}" fill="{color}" font-weight="{weight}"{turned}>'
                          f"{escape(text)}</text>")

    def line(self, x1, y1, x2, y2, color="#e5e7eb", width=1.0):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{color}" stroke-width="{width}"/>')

    def path(self, points, color, dashed):
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        coordinates = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{coordinates}" fill="none" stroke="{color}" '
                          f'stroke-width="2"{dash}/>')

    def dot(self, x, y, color, filled=True):
        fill = color if filled else "none"
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" '
                          f'stroke="{color}" stroke-width="2"/>')

    def legend(self, names, y):
        """Names with their colours, side by side; (name, color, dashed, dots, filled) each."""
        x = LEFT
        for name, color, dashed, dots, filled in names:
            if dashed or dots is False or filled is None:
                self.path([(x, y - 4), (x + 22, y - 4)], color, dashed)
            if dots:
                self.dot(x + 11, y - 4, color, filled is not False)
            self.text(x + 28, y, name)
            x += 28 + 7 * len(name) + 24

    def svg(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
                f'viewBox="0 0 {WIDTH} {self.height}" role="img" '
                f'font-family="Helvetica, Arial, sans-serif">\n'
                f"<title>{escape(self.title)}</title>\n"
                f'<rect width="{WIDTH}" height="{self.height}" fill="#ffffff"/>\n{body}\n</svg>\n')


def lines(title, subtitle, x_axis, y_axis, series: List[Series]):
    height = 440
    drawing = Drawing(height, title, subtitle)
    bottom, right = height - BOTTOM, WIDTH - RIGHT
    top = TOP + 24
    drawing.legend([(one.name, one.color, one.dashed, one.dots, None) for one in series], TOP + 8)
    for value, label in y_axis.ticks:
        y = y_axis.place(value, bottom, top)
        drawing.line(LEFT, y, right, y)
        drawing.text(LEFT - 8, y + 4, label, anchor="end")
    for value, label in x_axis.ticks:
        x = x_axis.place(value, LEFT, right)
        drawing.line(x, bottom, x, bottom + 5, color=GREY)
        drawing.text(x, bottom + 20, label, anchor="middle")
    drawing.line(LEFT, bottom, right, bottom, color=GREY)
    drawing.line(LEFT, top, LEFT, bottom, color=GREY)
    drawing.text((LEFT + right) / 2, height - 14, x_axis.label, size=13, anchor="middle")
    drawing.text(22, (top + bottom) / 2, y_axis.label, size=13, anchor="middle", turn=-90)
    for one in series:
        places = [(x_axis.place(x, LEFT, right), y_axis.place(y, bottom, top))
                  for x, y in one.points]
        drawing.path(places, one.color, one.dashed)
        if one.dots:
            for x, y in places:
                drawing.dot(x, y, one.color)
    return drawing.svg()


@dataclass
class Row:
    name: str
    first: float
    second: Optional[float]


def dots(title, subtitle, x_axis, rows: List[Row], first_name, second_name):
    """One line a row, with a full dot and, if there is a second value, an empty one."""
    left, step = 250, 24
    height = TOP + 24 + step * len(rows) + BOTTOM
    drawing = Drawing(height, title, subtitle)
    bottom, right, top = height - BOTTOM, WIDTH - RIGHT - 30, TOP + 24
    names = [(first_name, COLORS[0], False, True, True)]
    if any(row.second is not None for row in rows):
        names.append((second_name, COLORS[1], False, True, False))
    drawing.legend(names, TOP + 8)
    for value, label in x_axis.ticks:
        x = x_axis.place(value, left, right)
        drawing.line(x, top, x, bottom)
        drawing.text(x, bottom + 20, label, anchor="middle")
    for i, row in enumerate(rows):
        y = top + step * (i + 0.5)
        drawing.text(left - 12, y + 4, row.name, anchor="end")
        x = x_axis.place(row.first, left, right)
        drawing.line(left, y, x, y, color="#9ca3af")
        drawing.dot(x, y, COLORS[0])
        if row.second is not None:
            drawing.dot(x_axis.place(row.second, left, right), y, COLORS[1], filled=False)
    drawing.line(left, top, left, bottom, color=GREY)
    drawing.text((left + right) / 2, height - 14, x_axis.label, size=13, anchor="middle")
    return drawing.svg()
