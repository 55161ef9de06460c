"""Files that carry large arrays to and from one program, in memory if the system allows it."""

import os
import shutil

from gradcheck_ref.arguments import Array
from gradcheck_ref.conversation.left_behind import folder_of_ours
from gradcheck_ref.programs.description import ProgramError


class Folder:
    """A folder that is made when it is first needed, and removed with its files."""

    def __init__(self) -> None:
        # The bytes that it must be able to hold.
        self.room, self._path, self._process = 0, "", os.getpid()

    @property
    def path(self) -> str:
        """The path of the folder."""
        if not self._path:
            self._path = folder_of_ours(self.room)
        return self._path

    def put(self, name: str, array: Array, *, again: bool = True) -> dict[str, str]:
        """Write an array to a file, and return its replacement in a request.

        A file is overwritten in place, so that a program may keep it mapped. If not ``again``, an
        existing file is not written.

        Raises
        ------
        ProgramError
            If it cannot be written.
        """
        path = os.path.join(self.path, f"{name}.{array.dtype.kind}{8 * array.itemsize}")
        if again or not os.path.exists(path):
            try:
                with open(path, "wb", opener=_in_place) as file:
                    file.write(array.data)
            except OSError as error:
                raise ProgramError(f"cannot write a point to {path}: {error.strerror}") from None
        return {"file": path}

    def remove(self) -> None:
        """Remove the folder; a forked process leaves that to its parent."""
        if self._path and self._process == os.getpid():
            shutil.rmtree(self._path, ignore_errors=True)
            self._path = ""


def _in_place(path: str, flags: int) -> int:
    return os.open(path, flags & ~os.O_TRUNC, 0o600)
