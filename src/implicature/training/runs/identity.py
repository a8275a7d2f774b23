"""What weights belong to: the config and the space they were trained with, and the environment of the run.

Every checkpoint carries the config and a hash of the space. A file that was trained otherwise is noticed and named.
Results depend on the number of devices, as each plays games of its own: a run records it and is resumed with it.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from implicature import __version__
from implicature.spaces import Space
from implicature.training.config import Config
from implicature.training.runs.environment import environment, recorded_environment
from implicature.training.runs.space_file import FILE, space_hash

MAY_DIFFER = ("phases",)
"""Settings that a run may change without becoming another one."""
WORDS = {"version": "implicature", "devices": "devices", "jax": "JAX", "jaxlib": "jaxlib", "platform": "platform"}


class OtherRunError(ValueError):
    """Whole weights, but of another config, space or version: training must not replace them."""


@dataclass(frozen=True, eq=False)
class RunIdentity:
    """What the checkpoints of a run must have been written with."""

    config: Config
    space: Space

    @cached_property
    def hash(self) -> str:
        return space_hash(self.space)

    def notes(self) -> dict[str, str]:
        """Kept in every file of weights."""
        return {"version": __version__, "config": json.dumps(self.config.flat()), "space": self.hash}

    def check(self, path: Path, notes: dict[str, str]) -> None:
        """Raise an error for weights of another config, space or a later version. Earlier versions kept no notes."""
        if as_numbers(notes.get("version", "0")) > as_numbers(__version__):
            raise OtherRunError(
                f"{path} was written by the later version {notes['version']}: update implicature first."
            )
        if notes.get("space", self.hash) != self.hash:
            own = path.with_name(FILE)
            restore = own if own.exists() else "the file it was read from"
            raise OtherRunError(
                f"{path} was trained on another space: {self.space.name} has other instances, attributes or images, or "
                f"another order of them, than then. Restore {restore}."
            )
        if "config" not in notes:
            return
        try:
            trained_with = json.loads(notes["config"])
        except ValueError:
            raise ValueError(f"{path} holds notes that cannot be read.") from None
        may_differ = (*MAY_DIFFER, "layers") if self.config.network.share_layers else MAY_DIFFER
        for name, value in json.loads(json.dumps(self.config.flat())).items():
            if name not in may_differ and name in trained_with and trained_with[name] != value:
                raise OtherRunError(
                    f"{path} was trained with {name} {trained_with[name]}, but config.json says {value}: restore it."
                )

    def environment_differences(self, folder: Path) -> list[str]:
        """How this process differs from the one that the run was started in."""
        then, now = recorded_environment(folder), {"version": __version__, **environment()}
        return [
            f"This run was started with {word} {then[name]}, here it is {now[name]}."
            for name, word in WORDS.items()
            if name in then and then[name] != now[name]
        ]


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdecimal())
