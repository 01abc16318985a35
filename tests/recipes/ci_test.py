# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of examples/ci on examples/aclnn_sample, as if that were a user's project.

Usage: ci_test.py <examples> <prefix>

What takes long or needs a network is not run: building mlmargin, in whose place the installed copy
is, and what comes before a checkout.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

EXAMPLES, PREFIX = map(Path, sys.argv[1:])


def run(script, folder, **variables):
    """As a runner does: a shell that stops at the first error."""
    done = subprocess.run(["sh", "-e", "-c", script], cwd=folder, text=True, check=False, timeout=120,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(folder)} | variables,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{script}\n{done.stdout}")
    return done.stdout


def project(folder):
    shutil.copytree(EXAMPLES / "aclnn_sample", folder)
    return folder


def check_workflow(folder):
    workflow = yaml.safe_load((EXAMPLES / "ci/github-actions.yml").read_text(encoding="utf-8"))
    # "on" is a truth value to YAML 1.1.
    assert {"push", "pull_request"} <= set(workflow[True]), workflow
    [job] = workflow["jobs"].values()
    assert job["container"] == "debian:bookworm" and job["runs-on"], job
    ran = []
    for step in job["steps"]:
        assert set(step) <= {"name", "run", "env", "uses", "with"}, step
        if step.get("uses") == "actions/checkout@v4":
            assert step["with"] == {"submodules": True}, step
        elif step.get("uses") == "actions/cache@v4":
            kept = step["with"]["path"]
        elif step["name"] == "Build mlmargin":
            assert step["run"].endswith(' mlmargin/script/install "$PWD/prefix"'), step
            assert f'CCACHE_DIR="$PWD/{kept}" ' in step["run"], step
            (folder / "prefix").symlink_to(PREFIX)
        elif step["name"] != "Install what a checkout needs":
            run(step["run"], folder, **step.get("env", {}))
            ran.append(step["name"])
    assert len(ran) == 2, ran
    log = (folder / "log").read_text(encoding="utf-8")
    assert "labels outside [-1, 2] were skipped" in log, log


def check_containerfile(folder):
    text = (EXAMPLES / "ci/Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
    steps = [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    assert steps[0] == ["FROM", "debian:bookworm"], steps
    assert ["RUN", "/mlmargin/script/install /opt/mlmargin"] in steps, steps
    build = [script for kind, script in steps if kind == "RUN"][1]
    command = re.fullmatch(r'\["/bin/sh", "-c", "(.*)"\]', steps[-1][1]).group(1)
    for script in build, command:
        output = run(script.replace("/opt/mlmargin", str(PREFIX)).replace("/program", str(folder)),
                     folder)
    assert "loss" in output, output


with tempfile.TemporaryDirectory() as work:
    check_workflow(project(Path(work) / "workflow"))
    check_containerfile(project(Path(work) / "container"))
