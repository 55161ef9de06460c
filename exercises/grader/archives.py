"""Files in zip files: listed and read one by one, and never unpacked."""

import stat
import zipfile
import zlib
from typing import BinaryIO

MOST_OF_A_LIST = 4_000_000  # bytes of the list of files: about 40,000 of them
LONGEST_END = 22 + 0xFFFF  # bytes: the last record of a zip file, and a comment
SIMPLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1  # a bit of the flags
PROBLEMS = (
    *(zipfile.BadZipFile, zlib.error, OSError, ValueError, KeyError, EOFError),
    RuntimeError,  # also NotImplementedError
)


class BadArchiveError(Exception):
    """A zip file, or a file in it, that cannot be read; the message says why, without its name."""


def names_in(opened: BinaryIO) -> list[str]:
    """Return the names of the files in a zip file."""
    with _archive(opened) as archive:
        return [info.filename for info in archive.infolist() if not info.is_dir()]


def read_from(opened: BinaryIO, name: str, most: int) -> bytes:
    """Return so many bytes of a file in a zip file, and one more if it has more."""
    with _archive(opened) as archive:
        try:
            info = archive.getinfo(name)
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                raise BadArchiveError("is not an ordinary file")
            if info.flag_bits & ENCRYPTED:
                raise BadArchiveError("is encrypted")
            if info.compress_type not in SIMPLE:
                raise BadArchiveError("is compressed in an unusual way")
            with archive.open(info) as file:
                return file.read(most + 1)
        except PROBLEMS as error:
            raise BadArchiveError(f"cannot be unpacked: {type(error).__name__}") from None


def _archive(opened: BinaryIO) -> zipfile.ZipFile:
    """Open a zip file, unless its list of files is so long that reading it takes all memory."""
    try:
        size = opened.seek(0, 2)
        opened.seek(max(size - LONGEST_END, 0))
        end = opened.read()
        record = end[end.rindex(b"PK\5\6") :]
        if int.from_bytes(record[12:16], "little") > MOST_OF_A_LIST:
            raise BadArchiveError("is a zip file of too many files")
        return zipfile.ZipFile(opened)
    except PROBLEMS:
        raise BadArchiveError("is no zip file that can be read") from None
