"""What tests with a real Ray cluster on loopback share."""

from contextlib import suppress
from pathlib import Path

PATIENCE = 600
"""Seconds that a command may take."""
LOOPBACK = {
    "PYTHONPATH": str(Path(__file__).parent / "runner"),
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray's own switch for using loopback only, where machines are not to be reached from outside.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


def started_with(variable: str) -> list[int]:
    """Processes that have this in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
