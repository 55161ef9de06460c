"""Build the site for a room without a network: a zip that contains Python and NumPy for Run.

CONTRIBUTING.md says where to get the two. Nothing is downloaded here, and every file must have the
right checksum: Pyodide's are in pyodide.sha256, NumPy's is in Pyodide's own list of packages.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIST = "pyodide-lock.json"
START = "start.py"


def checksums(text: str) -> dict[str, str]:
    """Read the output of `sha256sum`: {name: checksum}."""
    return {name.lstrip("*"): sum_ for sum_, name in map(str.split, text.splitlines())}


def found_in(archive: Path, names: Collection[str]) -> dict[str, bytes]:
    """Read files by their names from a folder, or from any folder of a tar file."""
    if archive.is_dir():
        return {name: (archive / name).read_bytes() for name in names if (archive / name).is_file()}
    found = {}
    with tarfile.open(archive) as opened:
        for member in opened:
            name = member.name.rpartition("/")[2]
            if name in names and (content := opened.extractfile(member)):
                found[name] = content.read()
            if len(found) == len(names):
                break
    return found


def vouched_for(found: Mapping[str, bytes], sums: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files if all exist and have the right checksums.

    Raises
    ------
    ValueError
        If not.
    """
    for name, expected in sums.items():
        if name not in found:
            raise ValueError(f"{name} is missing: is this the right archive?")
        if hashlib.sha256(found[name]).hexdigest() != expected:
            raise ValueError(f"{name} is not the right file: its SHA-256 is different")
    return {name: found[name] for name in sums}


def runtime(pyodide: Path, numpy: Path | None, sums: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files that Run needs, after a test of their checksums.

    Parameters
    ----------
    pyodide : Path
        The archive of Pyodide, or the folder it was unpacked to.
    numpy : Path or None
        NumPy's wheel for Pyodide; None if the archive has it.
    sums : dict of str to str
        The SHA-256 of each file of Pyodide.

    Raises
    ------
    ValueError
        If a file is missing or has the wrong checksum.
    """
    core = vouched_for(found_in(pyodide, sums), sums)
    package = json.loads(core[LIST])["packages"]["numpy"]
    name = package["file_name"]
    wheel = {name: numpy.read_bytes()} if numpy else found_in(pyodide, [name])
    if not wheel:
        raise ValueError(f"NumPy is not in {pyodide.name}: give its wheel, {name}, with --numpy")
    return core | vouched_for(wheel, {name: package["sha256"]})


def pack(site: Path, files: Mapping[str, bytes], target: Path) -> None:
    """Write the zip: the pages, the files for Run, and a script that serves them."""
    folder = target.stem
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(site.rglob("*")):
            if path.is_file():
                archive.write(path, f"{folder}/{path.relative_to(site).as_posix()}")
        for name, content in files.items():
            archive.writestr(f"{folder}/pyodide/{name}", content)
        archive.write(HERE / START, f"{folder}/{START}")


def build(site: Path) -> None:
    """Build pages that also open without a server, and that look for Python beside them."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)]
    settings = {"OFFLINE": "true", "PYODIDE": "pyodide/", "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, env=os.environ | settings, check=True)


def main(words: list[str]) -> int:
    """Build the zip; return 0 for success, 1 for a missing or wrong file."""
    parser = argparse.ArgumentParser(description="Build the site as a zip, for use offline.")
    parser.add_argument("pyodide", type=Path, help="the archive of Pyodide, or its folder")
    parser.add_argument("--numpy", type=Path, help="NumPy's wheel, if it is not in the archive")
    parser.add_argument("--to", type=Path, default=Path("gradcheck_ref-site.zip"))
    options = parser.parse_args(words)
    sums = checksums((HERE / "pyodide.sha256").read_text(encoding="utf-8"))
    try:
        files = runtime(options.pyodide, options.numpy, sums)
    except (OSError, ValueError, tarfile.TarError) as error:
        print(error, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        pack(Path(folder), files, options.to)
    size = options.to.stat().st_size / 1e6
    print(f"{options.to}, {size:.0f} MB: unpack it, and run python3 {START} there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
