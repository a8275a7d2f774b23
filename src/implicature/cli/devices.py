"""CPU cores as JAX devices."""

import os
from pathlib import Path

MAX_DEVICES = 4


def use_recorded_devices(run: Path) -> None:
    """As many devices as a run was started with: its results depend on their number."""
    from implicature.training.environment import recorded_environment

    recorded = recorded_environment(run)
    if recorded.get("platform") == "cpu" and isinstance(recorded.get("devices"), int):
        os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(max(1, min(64, recorded["devices"]))))


def use_all_cores() -> None:
    """Let JAX see each core as a device of its own (up to four), so that a batch is divided among them: faster than
    cores that share every small operation. To be called before JAX is imported."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(min(MAX_DEVICES, cores)))
