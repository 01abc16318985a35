# SPDX-License-Identifier: Apache-2.0
"""The loss where the classes are spread over the processes of a group.

Each rank has the scores of a contiguous range of classes, for all rows. What travels is small: the
scores of the labels, some sums for each row, and a count for each label.
"""

import operator
from dataclasses import astuple, dataclass
from typing import Any, List, Optional, Tuple

import torch
import torch.distributed as dist
from torch import Tensor

from ._arguments import not_a_tensor
from ._library import operators
from ._reduction import reduction_number

# Of all types of scores; the number of one is its position here.
_SCORE_TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
# Integers as wide as a score.
_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def part_classes(num_classes: int) -> int:
    """How many classes a part has. Where all ranks begin at a multiple of it, and there are more
    than 128 classes, the sharded loss is bit for bit that of whole rows."""
    return operators.part_classes(num_classes)


def sharded_multilabel_margin_loss(local_input: Tensor, target: Tensor, first_class: int,
                                   num_classes: int, reduction: str = "mean",
                                   group: Optional[Any] = None) -> Tensor:
    """The multilabel margin loss of scores whose columns are spread over the ranks of a group.

    All ranks of the group must call it together, with ranges that cover all classes once.

    Args:
        local_input: scores (N, S) of the classes first_class to first_class + S - 1; S may be 0.
            float32, float16, bfloat16 or float64, the same on all ranks.
        target: label lists (N, K), int32 or int64, equal on all ranks: numbers among all classes,
            a list ends at its first -1.
        first_class: the first class of this rank.
        num_classes: how many classes there are, C.
        reduction: 'none', 'mean' or 'sum', as for ``multilabel_margin_loss``.
        group: a process group for CPU tensors, such as gloo's; None is the default group.

    Returns:
        The loss, with the same bits on all ranks: of shape (N) for 'none', else (). Within 1 ulp,
        and with the bits of ``multilabel_margin_loss`` on whole rows where all ranks begin at
        multiples of ``part_classes(num_classes)`` and there are more than 128 classes.

    Differentiable once by ``local_input``: a rank gets the gradient of its own columns, whose bits
    are those of whole rows. Backward does not communicate.

    Raises:
        RuntimeError: on all ranks, where an argument of one of them is wrong, the ranks disagree,
            or their ranges do not tile [0, C); and for a label outside [0, C).
        TypeError, ValueError: on a rank whose local_input or target is no tensor, whose first_class
            or num_classes is no integer, or whose reduction is unknown; RuntimeError on the others.
    """
    return _ShardedLoss.apply(local_input, target, first_class, num_classes, reduction, group)


@dataclass(frozen=True)
class _Shard:
    """What the ranks tell each other before they compute; integers only."""

    correct: int
    first_class: int = 0
    classes: int = 0
    num_classes: int = 0
    rows: int = 0
    label_columns: int = 0
    score_type: int = 0
    reduction: int = 0
    labels: int = 0  # A digest.

    def common(self) -> Tuple[int, ...]:
        """What must be equal on all ranks."""
        return (self.num_classes, self.rows, self.label_columns, self.score_type, self.reduction,
                self.labels)


class _ShardedLoss(torch.autograd.Function):

    @staticmethod
    def forward(ctx: Any, local_input: Tensor, target: Tensor, first_class: int, num_classes: int,
                reduction: str, group: Optional[Any]) -> Tensor:
        error = _local_error(local_input, target, first_class, num_classes, reduction)
        mine = _Shard(correct=0)
        if error is None:
            mine = _Shard(1, first_class, local_input.shape[1], num_classes, *target.shape,
                          _SCORE_TYPES.index(local_input.dtype), reduction_number(reduction),
                          _digest(target))
        shards = _exchange(mine, group)
        if error is not None:
            raise error
        _check_shards(shards)

        label_scores = _label_scores(local_input, target, first_class, group)
        local_sums, counts = operators.shard_sums(local_input, target, label_scores, first_class,
                                                  num_classes)
        dist.all_reduce(counts, group=group)
        part_sums = _gather_parts(local_sums, shards, group)
        ctx.save_for_backward(local_input, target, label_scores, counts)
        ctx.shard = mine
        return operators.shard_reduce(part_sums, num_classes, local_input.dtype, mine.reduction)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tuple[Optional[Tensor], ...]:
        local_input, target, label_scores, counts = ctx.saved_tensors
        shard = ctx.shard
        gradient = operators.shard_gradient(grad_output, local_input, target, label_scores, counts,
                                            shard.first_class, shard.num_classes, shard.reduction)
        return gradient, None, None, None, None, None


def _local_error(local_input: Tensor, target: Tensor, first_class: int, num_classes: int,
                 reduction: str) -> Optional[Exception]:
    """What can be told to be wrong without the other ranks."""
    try:
        reduction_number(reduction)
        for name, number in (("first_class", first_class), ("num_classes", num_classes)):
            if not 0 <= operator.index(number) < 1 << 62:
                return RuntimeError(f"sharded_multilabel_margin_loss: {name}: expected a number of "
                                    f"classes, got {number}")
    except (TypeError, ValueError) as error:
        return error
    for name, tensor in (("local_input", local_input), ("target", target)):
        if not isinstance(tensor, Tensor):
            return not_a_tensor("sharded_multilabel_margin_loss", name, tensor)
        if tensor.layout != torch.strided:
            return RuntimeError(f"sharded_multilabel_margin_loss: {name}: expected a dense tensor, "
                                f"got {tensor.layout}")
    shapes = f"{list(local_input.shape)} and {list(target.shape)}"
    if local_input.dim() != 2 or target.dim() != 2 or len(local_input) != len(target):
        return RuntimeError("sharded_multilabel_margin_loss: expected local_input of shape (N, S) "
                            f"and target of shape (N, K), got {shapes}")
    if local_input.device.type != "cpu" or target.device.type != "cpu":
        return RuntimeError("sharded_multilabel_margin_loss: expected CPU tensors, got "
                            f"local_input on {local_input.device} and target on {target.device}")
    if local_input.dtype not in _SCORE_TYPES:
        return RuntimeError("sharded_multilabel_margin_loss: local_input: expected float32, "
                            f"float16, bfloat16 or float64, got {local_input.dtype}")
    if target.dtype not in (torch.int32, torch.int64):
        return RuntimeError("sharded_multilabel_margin_loss: target: expected int32 or int64, got "
                            f"{target.dtype}")
    listed = _listed(target)
    wrong = ((target < 0) | (target >= num_classes)) & listed
    if wrong.any():
        row, column = wrong.nonzero()[0].tolist()
        return RuntimeError("sharded_multilabel_margin_loss: target is out of range: row "
                            f"{row} has the label {target[row, column]} at position {column}; "
                            f"expected labels in [0, {num_classes}), or -1 at the end of a list")
    return None


def _listed(target: Tensor) -> Tensor:
    """Which entries stand before a row's first -1."""
    return (target == -1).cumsum(1) == 0


def _digest(target: Tensor) -> int:
    """A number that hardly two batches of label lists have in common."""
    entries = torch.where(_listed(target), target.to(torch.int64), -1).flatten()
    places = torch.arange(entries.numel()) * 0x9E3779B97F4A7C1 + 0x632BE59BD9B4E01
    return int(((entries ^ places) * places).sum())


def _exchange(mine: _Shard, group: Optional[Any]) -> List[_Shard]:
    """The shards of all ranks, in their order."""
    numbers = torch.tensor(astuple(mine), dtype=torch.int64)
    gathered = [torch.empty_like(numbers) for _ in range(dist.get_world_size(group))]
    dist.all_gather(gathered, numbers, group=group)
    return [_Shard(*row.tolist()) for row in gathered]


def _check_shards(shards: List[_Shard]) -> None:
    """The same answer on all ranks, so that none is left waiting for the others."""
    for rank, shard in enumerate(shards):
        if not shard.correct:
            raise RuntimeError(f"sharded_multilabel_margin_loss: the arguments of rank {rank} are "
                               "wrong, see its error")
        if shard.common() != shards[0].common():
            raise RuntimeError(
                "sharded_multilabel_margin_loss: expected the same num_classes, labels, type and "
                f"reduction on all ranks, got {shards[0]} on rank 0 and {shard} "
                f"on rank {rank}")
    end = 0
    for shard in sorted(shards, key=lambda s: (s.first_class, s.classes)):
        if shard.first_class != end:
            break
        end += shard.classes
    else:
        if end == shards[0].num_classes and end > 0:
            return
    ranges = ", ".join(f"[{s.first_class}, {s.first_class + s.classes})" for s in shards)
    raise RuntimeError("sharded_multilabel_margin_loss: expected ranges of classes that tile "
                       f"[0, {shards[0].num_classes}), got {ranges}")


def _label_scores(local_input: Tensor, target: Tensor, first_class: int,
                  group: Optional[Any]) -> Tensor:
    """The scores of all labels, (N, K), on every rank.

    A label's score is on one rank, and 0 bits on the others: the sum of the bits, as integers, is
    the score, whatever it is.
    """
    bits_type = _BITS[local_input.element_size()]
    shard_classes = local_input.shape[1]
    bits = torch.zeros(target.shape, dtype=bits_type)
    if shard_classes > 0:
        column = target.to(torch.int64) - first_class
        here = (column >= 0) & (column < shard_classes)
        scores = local_input.gather(1, column.clamp(0, shard_classes - 1))
        bits = torch.where(here, scores.view(bits_type), bits)
    # Not every backend can sum int16.
    total = bits.to(torch.int32) if bits_type == torch.int16 else bits
    dist.all_reduce(total, group=group)
    return total.to(bits_type).view(local_input.dtype)


def _gather_parts(local_sums: Tensor, shards: List[_Shard], group: Optional[Any]) -> Tensor:
    """The part sums of all ranks, (N, parts, sums), in the order of the classes."""
    parts = [operators.num_parts(shard.num_classes, shard.classes) for shard in shards]
    rows, mine, width = local_sums.shape
    if rows == 0:
        # Nothing to gather, of which gloo makes a division by zero.
        return local_sums.new_zeros((0, sum(parts), width))
    # all_gather wants equal shapes.
    padded = local_sums.new_zeros((rows, max(parts), width))
    padded[:, :mine] = local_sums
    gathered = [torch.empty_like(padded) for _ in shards]
    dist.all_gather(gathered, padded, group=group)
    order = sorted(range(len(shards)), key=lambda rank: shards[rank].first_class)
    return torch.cat([gathered[rank][:, :parts[rank]] for rank in order], dim=1)
