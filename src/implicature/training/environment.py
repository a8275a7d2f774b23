"""What results depend on besides config and seed: devices and versions. Reading a run's record imports no JAX."""

import json
import sys
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

from implicature.files import read_text


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
    """The environment that a run was started in; empty for runs of earlier versions. No JAX is imported for it."""
    try:
        found = json.loads(read_text(folder / "config.json"))["environment"]
        return found if isinstance(found, dict) else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
