#!/usr/bin/env python3
"""Run by Classroom 50 for each submission, in the student's checkout; writes result.json."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("numpy") is None:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "numpy>=2.0"], check=True)
run = Path(__file__).resolve().parent / "exercises" / "run.py"
words = ["grade", ".", "--only", "@exercises@", "--classroom50", "result.json"]
# The platform's runner may become root, who can install bubblewrap, and use it on every system.
root = ["sudo", "-n", "--preserve-env"] if os.getuid() and shutil.which("sudo") else []
if shutil.which("bwrap") is None and shutil.which("apt-get"):
    for asked in (["update"], ["install", "--yes", "bubblewrap"]):
        subprocess.run([*root, "apt-get", "--quiet", *asked], stdout=sys.stderr)
sys.exit(subprocess.run([*root, sys.executable, "-B", run, *words]).returncode)
