# SPDX-License-Identifier: Apache-2.0
"""What a call needs besides its arguments, as the system counts it, in a process of its own."""

import subprocess
import sys
import unittest

# PEAK() gives the bytes that the process has held at most since the last RESET().
MEASURE = """
import torch, mlmargin

def RESET():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

def PEAK():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

def growth(call):
    RESET()
    before = PEAK()
    call()
    return PEAK() - before

"""
MEGABYTE = 1 << 20


def growth(program):
    """What the program prints."""
    answer = subprocess.run([sys.executable, "-c", MEASURE + program], stdout=subprocess.PIPE,
                            timeout=240, check=True)
    return int(answer.stdout)


class Memory(unittest.TestCase):

    def test_csr_labels_take_nothing_in_proportion_to_the_classes(self):
        """Padded to the classes, these labels would take 1.4 GB. The rows are one in memory."""
        extra = growth("""
ROWS, CLASSES, LABELS = 256, 670091, 5
scores = torch.randn(1, CLASSES).expand(ROWS, CLASSES)
offsets = torch.arange(ROWS + 1, dtype=torch.int32) * LABELS
indices = torch.randint(CLASSES, (ROWS * LABELS,), dtype=torch.int32)
call = lambda rows: mlmargin.multilabel_margin_loss_csr(scores[:rows], offsets[:rows + 1], indices)
call(2)  # Threads and their stacks.
print(growth(lambda: call(ROWS)))
""")
        self.assertLess(extra, 4 * MEGABYTE)

    def test_backward_takes_the_gradient_and_little_more(self):
        extra = growth("""
ROWS, CLASSES = 8, 670091
scores = torch.randn(ROWS, CLASSES, requires_grad=True)
labels = torch.randint(CLASSES, (ROWS, 5))

def call(rows):
    mlmargin.multilabel_margin_loss(scores[:rows].detach().requires_grad_(), labels[:rows],
                                    padded=True).backward()

call(1)
print(growth(lambda: call(ROWS)))
""")
        gradient = 8 * 670091 * 4
        self.assertLess(extra, gradient + 4 * MEGABYTE)

    def test_nothing_in_proportion_to_the_square_of_the_classes(self):
        """pytorch/pytorch #105302: the composed form makes a tensor (N, C, C), 6.4 GB here."""
        extra = growth("""
ROWS, CLASSES = 4, 20000
scores = torch.randn(ROWS, CLASSES, requires_grad=True)
target = torch.full((ROWS, CLASSES), -1)
target[:, 0] = torch.arange(ROWS)
mlmargin.multilabel_margin_loss(scores[:1, :100], target[:1, :100]).backward()
print(growth(lambda: mlmargin.multilabel_margin_loss(scores, target).backward()))
""")
        self.assertLess(extra, 4 * 4 * 20000 * 8)


if __name__ == "__main__":
    unittest.main()
