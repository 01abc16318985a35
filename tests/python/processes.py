# SPDX-License-Identifier: Apache-2.0
"""Runs a function in several processes that form a gloo group."""

import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing

SECONDS = 120


def _work(rank, function, size, folder, arguments):
    # The group is on this machine, whatever its name resolves to.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=size,
                            store=dist.FileStore(str(Path(folder) / "store"), size),
                            timeout=timedelta(seconds=SECONDS))
    torch.save(function(rank, size, *arguments), str(Path(folder) / f"result{rank}"))
    dist.barrier()
    dist.destroy_process_group()


def run(function, size, *arguments):
    """What function(rank, size, *arguments) returned in each of `size` processes.

    A failure in one of them is raised here; so is TimeoutError.
    """
    with tempfile.TemporaryDirectory() as folder:
        context = torch.multiprocessing.spawn(_work, (function, size, folder, arguments), size,
                                              join=False)
        deadline = time.monotonic() + SECONDS
        try:
            while not context.join(timeout=1):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{function.__name__} took more than {SECONDS} seconds")
        finally:
            for process in context.processes:
                process.kill()
        return [torch.load(str(Path(folder) / f"result{rank}")) for rank in range(size)]
