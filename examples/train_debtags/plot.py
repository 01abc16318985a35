# SPDX-License-Identifier: Apache-2.0
"""The course of the training as a picture."""

from pathlib import Path
from typing import Sequence

from matplotlib.figure import Figure

from tagger import CUTS, Quality


def plot(path: Path, learning_losses: Sequence[float], held_out: Sequence[Quality]) -> None:
    """Writes loss and precision after each epoch to a PNG; makes its folder."""
    epochs = range(1, len(held_out) + 1)
    # Without pyplot it is drawn by Agg and needs no display.
    figure = Figure(figsize=(9, 4), layout="constrained")
    loss, precision = figure.subplots(1, 2)
    loss.plot(epochs, learning_losses, marker="o", label="learning")
    loss.plot(epochs, [quality.loss for quality in held_out], marker="o", label="held out")
    loss.set(title="Multilabel margin loss", xlabel="epoch", ylim=(0, None))
    for i, cut in enumerate(CUTS):
        precision.plot(epochs, [quality.precision[i] for quality in held_out], marker="o",
                       label=f"at {cut}")
    precision.set(title="Precision on held-out packages", xlabel="epoch", ylim=(0, 1))
    for axes in (loss, precision):
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="png", dpi=120)
