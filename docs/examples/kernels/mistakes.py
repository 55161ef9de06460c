"""Three mistakes in the backward of a kernel, each as an edit of one place."""

import importlib.util
import tempfile
from pathlib import Path

# By kernel: what is wrong, the text in its file, and the text instead.
MISTAKES = {
    "triton_norm": {
        "scale": ("dw.sum(0)", "dw.mean(0)"),
        "mask": ("load(DY, at, inside)", "load(DY, at, (rows[:, None] < m) & (columns < n))"),
        "last block": ("blocks = triton.cdiv(m, ROWS)", "blocks = m // ROWS"),
    },
    "pallas_attention": {
        "scale": ("(ds @ k * q.shape[1] ** -0.5)", "(ds @ k)"),
        "mask": (
            "s = scores(q, k, first_key=BLOCK * pl.program_id(0))",
            "s = q @ k.T * q.shape[1] ** -0.5",
        ),
        "last block": ("(backward_kv, blocks,", "(backward_kv, blocks - 1,"),
    },
}


def kernel(name, mistake=None):
    """Import a kernel's module, perhaps with a mistake. Triton wants its source in a file."""
    text = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    if mistake:
        old, new = MISTAKES[name][mistake]
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = Path(tempfile.mkdtemp()) / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
