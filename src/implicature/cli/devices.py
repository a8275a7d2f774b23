"""CPU cores as JAX devices."""

import os
from pathlib import Path

MAX_DEVICES = 4


def already_chosen() -> bool:
    """Whether XLA_FLAGS say how many devices there are: JAX refuses to be told twice."""
    return "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")


def use_recorded_devices(run: Path) -> None:
    """As many devices as a run was started with: its results depend on their number."""
    from implicature.training.runs.environment import recorded_environment

    recorded = recorded_environment(run)
    if already_chosen():
        return
    if recorded.get("platform") == "cpu" and isinstance(recorded.get("devices"), int):
        os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(max(1, min(64, recorded["devices"]))))


def use_all_cores() -> None:
    """Let JAX see each core as a device of its own (up to four), so that a batch is divided among them: faster than
    cores that share every small operation. Who has chosen another number, by JAX_NUM_CPU_DEVICES or by XLA_FLAGS, gets
    it. To be called before JAX is imported."""
    if already_chosen():
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(min(MAX_DEVICES, cores)))
