# SPDX-License-Identifier: Apache-2.0
"""Tagged Debian packages as tensors: words and tags by number, and a fixed split.

The packages, their words and the split are those of examples/debtags, so that figures compare.
"""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

import torch
from torch import Tensor

HELD_OUT_PERCENT = 20
# A word of one package says nothing about others.
MIN_PACKAGES_OF_WORD = 2
# The fields of a paragraph that matter, each with the lines that continue it.
_FIELD = re.compile(r"^(Package|Architecture|Description(?:-en)?|Tag):(.*(?:\n[ \t].*)*)",
                    re.MULTILINE)
# "role::{program,devel-lib}" stands for two tags.
_BRACES = re.compile(r"([^\s,{}]+)\{([^{}]*)\}")


@dataclass
class Package:
    """A name, a one-line description, and the tags, sorted and each once."""

    name: str
    summary: str
    tags: List[str]


@dataclass
class Examples:
    """N packages by numbers: lists as wide as the longest, the others filled up."""

    words: Tensor   # (N, words): 0 where a list has ended.
    labels: Tensor  # (N, labels): numbers of tags, -1 where a list has ended.

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Tensor) -> "Examples":
        return Examples(self.words[rows], self.labels[rows])


@dataclass
class Dataset:
    """What to learn from, and what to judge by: nothing is learned from the held-out packages."""

    num_words: int  # Numbers of words are 1 to num_words.
    num_tags: int
    learning: Examples
    held_out: Examples


def read_packages(path: Optional[str], architecture: Optional[str]) -> List[Package]:
    """The tagged packages of a saved `apt-cache dumpavail`, or of this machine's.

    Of each name the first paragraph of the architecture (this machine's if None), or of "all",
    counts.

    Raises:
        OSError: the file cannot be read, or there is no apt-cache.
        ValueError: there are no tagged packages.
    """
    if path is None:
        index = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True).stdout
    else:
        with open(path, "rb") as file:
            index = file.read()
    if architecture is None:
        architecture = subprocess.run(["dpkg", "--print-architecture"], check=True,
                                      capture_output=True, text=True).stdout.strip()
    packages: Dict[str, Package] = {}
    for paragraph in index.decode("utf-8", errors="replace").split("\n\n"):
        field = dict(_FIELD.findall(paragraph))
        name = field.get("Package", "").strip()
        if field.get("Architecture", "").strip() not in (architecture, "all") or name in packages:
            continue
        text = field.get("Description-en", field.get("Description", ""))
        packages[name] = Package(name, text.split("\n")[0].strip(), _tags(field.get("Tag", "")))
    tagged = [package for package in packages.values() if package.name and package.tags]
    if not tagged and path is None:
        raise ValueError("the package index has no tagged packages: run `apt-get update` as root "
                         "first")
    if not tagged:
        raise ValueError(f"{path} has no tagged packages for the architecture {architecture} or "
                         "all")
    return tagged


def make_dataset(packages: Sequence[Package]) -> Dataset:
    """Numbers words and tags, and holds out packages by a hash of the name: the same in every run.

    Raises:
        ValueError: one side of the split is empty.
    """
    held_out = [_hash(package.name) % 100 < HELD_OUT_PERCENT for package in packages]
    sides = [[package for package, out in zip(packages, held_out) if out == side]
             for side in (False, True)]
    if not all(sides):
        raise ValueError("too few packages to learn from some and judge by others")
    counts = Counter(word for package in sides[0] for word in _words(package))
    known = sorted(word for word, count in counts.items() if count >= MIN_PACKAGES_OF_WORD)
    word_number = {word: i for i, word in enumerate(known, start=1)}
    tag_number = {tag: i for i, tag in
                  enumerate(sorted({tag for package in packages for tag in package.tags}))}
    learning, judging = (
        Examples(_padded([[word_number[word] for word in _words(package) if word in word_number]
                          for package in side], 0),
                 _padded([[tag_number[tag] for tag in package.tags] for package in side], -1))
        for side in sides)
    return Dataset(len(known), len(tag_number), learning, judging)


def _tags(field: str) -> List[str]:
    flat = _BRACES.sub(lambda match: ",".join(match[1] + member.strip()
                                              for member in match[2].split(",")), field)
    return sorted({tag.strip() for tag in flat.split(",")} - {""})


def _words(package: Package) -> List[str]:
    """libfoo2-dev, "Fast foo library" -> dev, fast, foo, library, name:dev, name:foo, name:lib."""
    words = set(re.findall(r"[a-z0-9+]+", package.summary.lower()))
    for part in re.findall(r"[a-z]+", package.name.lower()):
        if part.startswith("lib") and part != "lib":
            words.add("name:lib")
            part = part[3:]
        words |= {part, "name:" + part}
    return sorted(words)


def _padded(lists: Sequence[List[int]], filler: int) -> Tensor:
    width = max(1, max(map(len, lists)))
    return torch.tensor([row + [filler] * (width - len(row)) for row in lists])


def _hash(text: str) -> int:
    """FNV-1a without its last bits, as in examples/debtags."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value >> 16
