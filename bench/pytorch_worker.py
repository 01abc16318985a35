# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the benchmark: mlmargin_bench starts it and talks to it in lines.

At the start it says "ready <version of torch>", or "missing <reason>" and ends. Then, for each
line it reads, it answers one:

  load <rows> <classes> <file of float32 scores> <file of int64 labels>   loaded
  run <seconds>   ran <seconds of the fastest call> <loss>
                  times single calls, one or more, until that much time is over
  small <calls>   small <seconds of one call of the operator> <of torch.nn.functional's function>
  unload          unloaded

An error is answered with "error <what>". It ends when its input does. One thread: PyTorch's kernel
for CPUs has no more.
"""

import sys
import time

NO_REDUCTION = 0


class Worker:
    def __init__(self, numpy, torch):
        self.numpy = numpy
        self.torch = torch
        self.operator = torch.ops.aten.multilabel_margin_loss_forward
        # The same operator; this way from Python to it takes less time.
        self.functional = torch.nn.functional.multilabel_margin_loss
        torch.set_num_threads(1)

    def load(self, rows, classes, scores, labels):
        shape = (int(rows), int(classes))
        self.scores = self.tensor(scores, "float32", shape)
        self.labels = self.tensor(labels, "int64", shape)
        return "loaded"

    def tensor(self, path, dtype, shape):
        count = shape[0] * shape[1]
        return self.torch.from_numpy(self.numpy.fromfile(path, dtype, count).reshape(shape))

    def unload(self):
        self.scores = self.labels = None
        return "unloaded"

    def run(self, seconds):
        end = time.perf_counter() + float(seconds)
        fastest = float("inf")
        while True:
            start = time.perf_counter()
            loss = self.functional(self.scores, self.labels)
            stop = time.perf_counter()
            fastest = min(fastest, stop - start)
            if stop >= end:
                return f"ran {fastest!r} {loss.item()!r}"

    def small(self, calls):
        calls = range(int(calls))
        scores = self.torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
        labels = self.torch.tensor([[0, 1, -1], [2, -1, -1]])
        operator, functional = self.operator, self.functional
        start = time.perf_counter()
        for _ in calls:
            operator(scores, labels, NO_REDUCTION)
        middle = time.perf_counter()
        for _ in calls:
            functional(scores, labels, reduction="none")
        stop = time.perf_counter()
        return f"small {(middle - start) / len(calls)!r} {(stop - middle) / len(calls)!r}"


def main():
    try:
        import numpy
        import torch
    except ImportError as error:
        print("missing", error, flush=True)
        return
    worker = Worker(numpy, torch)
    print("ready", torch.__version__, flush=True)
    commands = {
        "load": worker.load, "run": worker.run, "small": worker.small, "unload": worker.unload
    }
    for line in sys.stdin:
        command, *arguments = line.split()
        try:
            answer = commands[command](*arguments)
        except Exception as error:  # Whatever it is, the other side has to hear of it.
            answer = f"error {error!r}".replace("\n", " ")
        print(answer, flush=True)


if __name__ == "__main__":
    main()
