"""Put the wheel of the package into the site: smaller for the pages, and whole to be downloaded.

Its version, and the date in `CHANGELOG.md`, stand below every page.
"""

import io
import re
import tempfile
import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

# No page judges another checker; no framework, program, terminal or pytest is there.
UNNEEDED = re.compile(
    r"/(adapters|conversation|oracle|programs)/|/(__main__|tour|zoo/company)\.py$|^pytest_|/RECORD$"
)
RELEASE = re.compile(r"^## \[(\S+)\] - (\S+)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> None:
    """Say in the footer which release this is."""
    changes = Path(config.config_file_path).with_name("CHANGELOG.md").read_text(encoding="utf-8")
    release = RELEASE.search(changes)
    assert release, "CHANGELOG.md has no release"
    config.extra["release"] = ", ".join(release.groups())


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the package without what pages do not need, and as users install it."""
    with tempfile.TemporaryDirectory() as folder:
        builder = WheelBuilder(str(Path(config.config_file_path).parent))
        (path,) = builder.build(directory=folder, versions=["standard"])
        name, content = Path(path).name, Path(path).read_bytes()
    smaller = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as wheel, zipfile.ZipFile(smaller, "w") as archive:
        for file in wheel.infolist():
            if not UNNEEDED.search(file.filename):
                data = wheel.read(file)
                if file.filename.endswith("/METADATA"):
                    data = data.partition(b"\n\n")[0] + b"\n"  # without the README
                archive.writestr(file, data, compresslevel=9)
    files.append(File.generated(config, f"assets/run/{name}", content=smaller.getvalue()))
    place = config.extra["downloads"]
    if place and "://" not in place:
        files.append(File.generated(config, place + name, content=content))
