"""Export the vectors as plain files, for machines without Python."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

from gradcheck_ref.oracle.generate.layout import canonical
from gradcheck_ref.oracle.table import KINDS, PROTOCOL, protocol_schema, vectors_schema
from gradcheck_ref.oracle.vectors import VERSION, load_file


def export(folder: Path) -> list[Path]:
    """Write vectors, schemas and format into a folder.

    Each kind is one file, with each group once and all releases together. The manifest
    has the versions, the counts, and a checksum of every file.

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
    contents = {f"vectors/{kind}.json": canonical(load_file(kind)) for kind in KINDS}
    for name, schema in (("vectors", vectors_schema()), ("protocol", protocol_schema())):
        contents[f"schemas/{name}.schema.json"] = json.dumps(schema, indent=2) + "\n"
    page = files("gradcheck_ref.oracle") / "FORMAT.md"
    contents["FORMAT.md"] = page.read_text(encoding="utf-8")
    sums = {n: hashlib.sha256(text.encode("utf-8")).hexdigest() for n, text in contents.items()}
    counts = {kind: load_file(kind)["count"] for kind in KINDS}
    manifest = {"vectors": VERSION, "protocol": PROTOCOL, "counts": counts, "sha256": sums}
    contents["manifest.json"] = json.dumps(manifest, indent=2) + "\n"
    written = []
    for name, content in contents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8"))  # the same bytes on every system
        written.append(file)
    return written
