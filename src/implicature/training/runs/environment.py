"""What results depend on besides config and seed: devices and versions. Reading a run's record imports no JAX."""

import json
import sys
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

from implicature.files import printable, read_text

MAX_LETTERS = 60
"""Of a version."""


def environment() -> dict[str, Any]:
    """This process's."""
    import jax

    return {
        "devices": jax.local_device_count(),
        "jax": package_version("jax"),
        "jaxlib": package_version("jaxlib"),
        "platform": jax.default_backend(),
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def recorded_environment(folder: Path) -> dict[str, Any]:
    """The environment that a run was started in, and the version; runs of 0.1 kept the version alone. No JAX is
    imported for it."""
    try:
        content = json.loads(read_text(folder / "config.json"))
        found = {**content.get("environment", {}), "version": content["version"]}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    # A run may come from elsewhere, and these are shown on a terminal.
    return {name: value for name, value in found.items() if len(str(value)) < MAX_LETTERS and printable(str(value))}
