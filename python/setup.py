# SPDX-License-Identifier: Apache-2.0
"""Builds the package for the PyTorch that is installed.

With an installed mlmargin (MLMARGIN_HOME, ASCEND_HOME_PATH, CMAKE_PREFIX_PATH or pkg-config lead to
it) the extension links to its library. Else, in the source tree, it holds the kernel itself, which
needs Highway and oneTBB (Debian: libhwy-dev libtbb-dev).
"""

import os
import re
import subprocess
from pathlib import Path

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

HERE = Path(__file__).resolve().parent
SOURCE_TREE = HERE.parent
FLAGS = ["-O3", "-g0", "-fvisibility=hidden"]
# PyTorch 1.13 would choose C++14, too old for mlmargin's headers; later ones choose well.
STANDARD_FLAGS = ["-std=c++17"] if torch.__version__.startswith("1.") else []
# Those of cmake/MlmarginTargets.cmake and src/kernel/CMakeLists.txt: the first for the bits of the
# results, the others for speed.
KERNEL_FLAGS = ["-std=c++20", "-ffp-contract=off", "-fno-tree-loop-vectorize",
                "-fno-tree-loop-distribute-patterns", "-DHWY_SHARED_DEFINE"]


def holds_mlmargin(prefix):
    return (prefix / "include/mlmargin/sharded_loss.h").exists() and (
        prefix / "lib64/libmlmargin.so").exists()


def prefixes_to_try():
    for variable in ("ASCEND_HOME_PATH", "CMAKE_PREFIX_PATH"):
        for folder in os.environ.get(variable, "").split(os.pathsep):
            if folder:
                yield Path(folder)
    try:
        answer = subprocess.run(["pkg-config", "--variable=prefix", "mlmargin"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if answer.stdout.strip():
            yield Path(os.fsdecode(answer.stdout.strip()))
    except FileNotFoundError:
        pass  # No pkg-config, no answer.


def find_prefix():
    """The installed mlmargin, or None."""
    home = os.environ.get("MLMARGIN_HOME")
    if home:
        if not holds_mlmargin(Path(home)):
            raise SystemExit(f"mlmargin: MLMARGIN_HOME={home} has no include/mlmargin/ with "
                             "lib64/libmlmargin.so")
        return Path(home)
    return next((prefix for prefix in prefixes_to_try() if holds_mlmargin(prefix)), None)


def linked_extension(prefix):
    libraries = str(prefix.resolve() / "lib64")
    return CppExtension("mlmargin._torch", extension_sources(),
                        include_dirs=[str(prefix / "include")], library_dirs=[libraries],
                        runtime_library_dirs=[libraries], libraries=["mlmargin"],
                        extra_compile_args=FLAGS + STANDARD_FLAGS)


def extension_with_kernel():
    kernel = sorted(os.path.relpath(path, HERE)
                    for path in (SOURCE_TREE / "src/kernel").glob("*.cc"))
    return CppExtension("mlmargin._torch", extension_sources() + kernel,
                        include_dirs=[str(SOURCE_TREE / "include"), str(SOURCE_TREE / "src")],
                        libraries=["hwy_contrib", "hwy", "tbb"],
                        extra_compile_args=FLAGS + KERNEL_FLAGS)


def extension_sources():
    return sorted(os.path.relpath(path, HERE) for path in (HERE / "csrc").glob("*.cc"))


def version(include):
    text = (include / "mlmargin/version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define MLMARGIN_VERSION_[A-Z]+ (\d+)", text))


def main():
    os.chdir(HERE)
    prefix = find_prefix()
    if prefix is not None:
        print(f"mlmargin: links to the library in {prefix}")
        extension, include = linked_extension(prefix), prefix / "include"
    elif (SOURCE_TREE / "CMakeLists.txt").exists() and (SOURCE_TREE / "src/kernel").is_dir():
        print(f"mlmargin: compiles the kernel in {SOURCE_TREE / 'src/kernel'}")
        extension, include = extension_with_kernel(), SOURCE_TREE / "include"
    else:
        raise SystemExit("mlmargin: found neither an installed mlmargin (set MLMARGIN_HOME to its "
                         "prefix) nor the source tree around this folder")
    setup(name="mlmargin", version=version(include), packages=["mlmargin"],
          description="The multilabel margin loss for PyTorch on CPUs", license="Apache-2.0",
          python_requires=">=3.8", ext_modules=[extension],
          cmdclass={"build_ext": BuildExtension})


main()
