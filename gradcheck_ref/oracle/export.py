"""Export the vectors as plain files, for machines without Python."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

from gradcheck_ref.oracle.table import KINDS, PROTOCOL, protocol_schema, vectors_schema
from gradcheck_ref.oracle.vectors import VERSION, load_file


def exported() -> dict[str, bytes]:
    """Return the vectors, the schemas, the format, the license and a manifest, by file name.

    The manifest has the versions, the counts, and a checksum of every other file.
    """
    folder = files("gradcheck_ref.oracle")
    texts = {}
    for kind in KINDS:
        file = folder / "vectors" / VERSION / f"{kind}.json"
        texts[f"vectors/{kind}.json"] = file.read_text(encoding="utf-8")
    for name, schema in (("vectors", vectors_schema()), ("protocol", protocol_schema())):
        texts[f"schemas/{name}.schema.json"] = json.dumps(schema, indent=2) + "\n"
    texts["FORMAT.md"] = (folder / "FORMAT.md").read_text(encoding="utf-8")
    texts["LICENSE"] = (folder / "vectors" / "LICENSE").read_text(encoding="utf-8")
    # The same bytes on every system.
    contents = {name: text.encode("utf-8") for name, text in texts.items()}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    counts = {kind: load_file(kind)["count"] for kind in KINDS}
    manifest = {"vectors": VERSION, "protocol": PROTOCOL, "counts": counts, "sha256": sums}
    return {**contents, "manifest.json": (json.dumps(manifest, indent=2) + "\n").encode()}


def export(folder: Path) -> list[Path]:
    """Write vectors, schemas, format and license into a folder.

    Parameters
    ----------
    folder : Path
        The folder is made if necessary; files in it are overwritten.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    written = []
    for name, content in exported().items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        written.append(file)
    return written
