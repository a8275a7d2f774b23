"""Files: reading untrusted ones safely, writing atomically, and checking a destination before long work.

Reading refuses pipes, devices, oversized and non-UTF-8 files with one sentence. Writing goes through a temporary file,
so a crash leaves either the old content or the new.
"""

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Any
from unicodedata import category

MAX_BYTES = 200_000_000
UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's control, formatting, surrogate and line-breaking characters: they could redraw a terminal."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
JOINERS = "\u200c\u200d"


def printable(name: str) -> bool:
    """Whether a name can be shown without side effects on a terminal."""
    return not any(category(letter) in UNPRINTABLE and letter not in JOINERS for letter in name)


def read_text(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """The content of a UTF-8 text file."""
    if "\0" in str(path):
        raise ValueError("Its name holds a NUL byte, which no file's does: name another.")
    try:
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "a pipe or a device"
            raise ValueError(f"This is {kind}, not a file: name a file.")
        if (size := path.stat().st_size) > max_bytes:
            raise ValueError(f"{size:,} bytes are more than {max_bytes:,}: keep fewer.")
        with path.open("rb") as file:
            content = file.read(max_bytes)
        if b"\0" in content:
            raise ValueError("It holds NUL bytes, so it is binary or UTF-16: save it as text in UTF-8.")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"It cannot be read ({error.strerror}): check its name and its permissions.") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"Line {line} is not UTF-8: save the file again with the encoding UTF-8.") from None


def csv_lines(text: str, delimiter: str = ",") -> Iterator[tuple[str, list[str]]]:
    """The cells of each non-empty CSV line, after its location for error messages."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield f"Line {reader.line_num}", cells
    except csv.Error as error:
        raise ValueError(f"Line {reader.line_num} is not CSV ({error}): look for a stray quote there.") from None


def parse_table(text: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV table that has at least these columns."""
    lines = csv_lines(text)
    _, header = next(lines, ("", []))
    if missing := [column for column in columns if column not in header]:
        raise ValueError(f"It has no column {missing[0]}: it is not the table that belongs here.")
    if len(set(header)) < len(header):
        raise ValueError("Two of its columns have the same name: it is not the table that belongs here.")
    rows = []
    for location, cells in lines:
        if len(cells) != len(header):
            raise ValueError(
                f"{location} has {len(cells)} cells, but the header has {len(header)}: give each column one."
            )
        rows.append(dict(zip(header, cells, strict=True)))
    return rows


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file; errors name the file."""
    try:
        return parse_table(read_text(path), columns)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def format_csv(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """A CSV table for people: text that a spreadsheet would run as a formula gets an apostrophe in front."""

    def guard(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) and not is_number(cell) else cell

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(guard, header))
    writer.writerows(map(guard, row) for row in rows)
    return text.getvalue().encode()


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def write_atomic(path: Path, content: bytes) -> None:
    """Replace a file so that a crash at any moment leaves either the old one or the new one."""
    partial = path.with_name(path.name + ".partial")
    with name_in_errors(path):
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except OSError:
            with suppress(OSError):
                partial.unlink()
            raise
    sync_folder(path.parent)


@contextmanager
def name_in_errors(path: Path) -> Iterator[None]:
    """Errors of the system name this file: of a full disk they name none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # a library's own
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power failure, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def exclusive_lock(path: Path, busy: str, wait: bool = False) -> Iterator[None]:
    """Hold a lock file while the context lasts; where another process holds it, wait, or raise an error that says so.
    The lock ends with the process, however that ends; the file stays and means nothing. It is never followed as a link
    nor truncated."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise ValueError(busy) from None
        yield
    finally:
        os.close(handle)


def private_folder(name: str) -> Path:
    """A folder of this user's for locks and the like: mode 0700, owned by the user, not a link."""
    bases = [Path(base) for base in map(os.environ.get, ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME")) if base]
    with suppress(RuntimeError):
        bases.append(Path.home() / ".cache")
    shared = Path(tempfile.gettempdir()) / f"implicature-{os.getuid()}"
    for above in (*(base / "implicature" for base in bases), shared):
        folder = above / name
        with suppress(OSError):
            above.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            # Whoever owns the folder above could put another in its place.
            if is_own_folder(above) and is_own_folder(folder) and os.access(folder, os.W_OK):
                os.chmod(folder, 0o700)
                return folder
    raise ValueError("There is no folder for locks: set XDG_RUNTIME_DIR to a folder of your own.")


def is_own_folder(path: Path) -> bool:
    """Whether it is this user's, and not a link."""
    found = os.lstat(path)
    return S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def check_png(path: Path, option: str) -> None:
    """Raise an error where no PNG file can be written."""
    if path.suffix.lower() != ".png":
        raise ValueError(f"The image {str(path)!r} is not a PNG file: name one that ends in .png with {option}.")
    check_file(path, option)


def check_file(path: Path, option: str) -> None:
    """Raise an error where no file can be written: the folder must exist, and the name be free or a file's."""
    if not path.parent.is_dir() or (path.exists() and not path.is_file()):
        raise ValueError(f"{path} cannot be written: name a file in a folder that exists with {option}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{path} cannot be written (permission denied): choose another with {option}.")


def check_folder(path: Path, option: str) -> None:
    """Raise an error where no folder can be created or written to."""
    above = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ValueError(f"{path} is no folder that can be written to: name another with {option}.")
