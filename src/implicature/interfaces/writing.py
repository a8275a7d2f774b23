"""Whether a file can be written, asked before the work whose result it is to hold."""

import os
from pathlib import Path


def check_picture(path: Path, option: str) -> None:
    """Raise a sentence where no PNG file can be written."""
    if path.suffix.lower() != ".png":
        raise ValueError(f"The picture {str(path)!r} is not a PNG file: name one that ends in .png with {option}.")
    check_file(path, option)


def check_file(path: Path, option: str) -> None:
    """Raise a sentence where no file can be written: the folder must be there, and the name free or a file's."""
    if not path.parent.is_dir() or (path.exists() and not path.is_file()):
        raise ValueError(f"{path} cannot be written: name a file in a folder that exists with {option}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{path} cannot be written: nobody let you, so choose another with {option}.")


def check_folder(path: Path, option: str) -> None:
    """Raise a sentence where no folder can be made or written into."""
    above = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ValueError(f"{path} is no folder that can be written into: name another with {option}.")
