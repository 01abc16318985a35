# SPDX-License-Identifier: Apache-2.0
"""Threads: how many, the same bits for any number, and Python's others go on meanwhile."""

import os
import subprocess
import sys
import threading
import time
import unittest

import torch

import exact
import mlmargin

COUNT_THREADS = """
import os, sys, torch, mlmargin
torch.set_num_threads(int(sys.argv[1]))
scores = torch.randn(64, 20000)
target = torch.arange(40).expand(64, 40)
before = len(os.listdir("/proc/self/task"))
for _ in range(3):
    mlmargin.multilabel_margin_loss(scores, target, padded=True)
print(len(os.listdir("/proc/self/task")) - before)
"""


def batch():
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(16, 20000, generator=generator)
    return scores, torch.randint(20000, (16, 200), generator=generator)


def loss_and_gradient(scores, target):
    scores = scores.clone().requires_grad_()
    loss = mlmargin.multilabel_margin_loss(scores, target, padded=True)
    loss.backward()
    return loss.detach(), scores.grad


class Threads(unittest.TestCase):

    def tearDown(self):
        torch.set_num_threads(self.threads)

    def setUp(self):
        self.threads = torch.get_num_threads()

    def test_the_bits_are_the_same_for_any_number(self):
        results = []
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            results.append(loss_and_gradient(*batch()))
        for loss, gradient in results[1:]:
            self.assertTrue(exact.same_bits(loss, results[0][0]))
            self.assertTrue(exact.same_bits(gradient, results[0][1]))

    def new_threads(self, allowed):
        answer = subprocess.run([sys.executable, "-c", COUNT_THREADS, str(allowed)],
                                stdout=subprocess.PIPE, timeout=120, check=True)
        return int(answer.stdout)

    def test_their_number_is_pytorchs(self):
        self.assertEqual(self.new_threads(1), 0)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertGreaterEqual(self.new_threads(2), 1)

    def test_calls_from_several_threads(self):
        scores, target = batch()
        expected = mlmargin.multilabel_margin_loss(scores, target, padded=True)
        results = []
        callers = [threading.Thread(target=lambda: results.append(
            mlmargin.multilabel_margin_loss(scores, target, padded=True))) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        self.assertEqual(len(results), 4)
        for loss in results:
            self.assertTrue(exact.same_bits(loss, expected))


class InterpreterLock(unittest.TestCase):
    """The lock is not held while the loss is computed."""

    def ticks_during(self, call):
        """How often another Python thread woke up in a call, and how long that took."""
        ready, done = threading.Event(), threading.Event()

        def work():
            ready.set()
            call()
            done.set()

        worker = threading.Thread(target=work)
        ticks, begin = 0, time.monotonic()
        worker.start()
        ready.wait()
        while not done.is_set():
            time.sleep(0.001)
            ticks += 1
        worker.join()
        return ticks, time.monotonic() - begin

    def check(self, make_call):
        # Rows are added until a call is long enough to tell; a held lock would allow a tick or two.
        rows = 64
        while True:
            ticks, seconds = self.ticks_during(make_call(rows))
            if seconds > 0.3 or rows >= 1 << 20:
                break
            rows *= 2
        self.assertGreater(ticks, 10)

    def test_forward(self):
        scores, target = torch.randn(1, 20000), torch.arange(40).reshape(1, 40)

        def make_call(rows):
            return lambda: mlmargin.multilabel_margin_loss(
                scores.expand(rows, -1), target.expand(rows, -1), padded=True)

        self.check(make_call)

    def test_backward(self):
        target = torch.arange(40).reshape(1, 40)

        def make_call(rows):
            scores = torch.randn(1, 2000).expand(rows, -1).requires_grad_()
            loss = mlmargin.multilabel_margin_loss(scores, target.expand(rows, -1), padded=True)
            # One for which forward has no gradient ready.
            return lambda: torch.autograd.grad(loss, scores, torch.tensor(2.0))

        self.check(make_call)


if __name__ == "__main__":
    unittest.main()
