"""A run: training in a folder that can be interrupted and resumed at any moment.

    RUN/config.json               the resolved config, the version
    RUN/space.safetensors         the space: names, table, images (see space_file.py)
    RUN/metrics.csv               a line for each chunk of iterations and each pair
    RUN/events                    the same for TensorBoard
    RUN/phase-N.safetensors       the pairs after phase N; phase 0 is before the first
    RUN/checkpoint.safetensors    where training stands, and previous.safetensors the checkpoint before it

Every random number is a function of (seed, stage, iteration), so a run that was killed and resumed ends bit-identical
to one that was not.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from implicature import __version__
from implicature.agents.contracts import Pair
from implicature.files import exclusive_lock, read_text, write_atomic
from implicature.profiling import part
from implicature.training.algorithm1 import Progress, algorithm1
from implicature.training.checks import check_config, check_ignored
from implicature.training.config import GROUP_OF, Config
from implicature.training.methods import find_method, plan
from implicature.training.runs.checkpoint import is_old, load_tree, read_whole, save_tree
from implicature.training.runs.environment import environment
from implicature.training.runs.identity import OtherRunError, RunIdentity
from implicature.training.runs.metrics import MetricsFile, Position
from implicature.training.runs.space_file import print_warning, run_space, save_space
from implicature.training.runs.tensorboard import EventWriter
from implicature.training.runs.upgrade import FORMAT, upgrade_config, upgrade_weight_name
from implicature.training.seeds import init_states, over_seeds, take_member
from implicature.training.sharding import shard
from implicature.training.task import Task, make_task

FILES = ("metrics.csv", "events", "*.safetensors")
"""What a run writes into its folder, beside its config."""
LOCK = ".lock"
EXAMPLE = "example.png"
"""One game, phase by phase; drawn when training is finished."""
MAX_CONFIG_BYTES = 100_000


class Run:
    """A run folder, new or existing."""

    def __init__(self, folder: Path, task: Task):
        self.folder, self.task = folder, task
        config = task.config
        # JAX's cheaper generator: with the default one a third of the teacher's half would be random numbers.
        seed, pairs = config.optimiser.seed, config.optimiser.pairs
        self.keys = jax.vmap(lambda seed: jax.random.key(seed, impl="rbg"))(seed + jnp.arange(pairs))
        self.method = find_method(config)
        self.stages = plan(config)
        self.identity = RunIdentity(config, task.space)
        new_pair, data = self.method.new_pair, task.data
        messages = data.lexicon.shape[1]
        start = over_seeds(lambda key: new_pair(jax.random.fold_in(key, 0), config, data.observations, messages))
        self.pairs: Pair = shard(eqx.filter_jit(start)(self.keys), config.optimiser.batch)

    @property
    def config(self) -> Config:
        """Resolved."""
        return self.task.config

    @property
    def metrics(self) -> MetricsFile:
        return MetricsFile(self.folder / "metrics.csv", self.config.optimiser.pairs)

    @property
    def total_iterations(self) -> int:
        return sum(stage.iterations for stage in self.stages)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.safetensors"

    def phase_file(self, phase: int) -> Path:
        return self.folder / f"phase-{phase}.safetensors"

    @property
    def finished(self) -> bool:
        return self.phase_file(self.config.optimiser.phases).exists()

    def train(self, warn: Callable[[str], None] = print) -> Iterator[Progress]:
        """Train from where the folder stands to the end, yielding after each chunk."""
        if self.finished:
            try:
                self.pairs = self.pairs_after(self.config.optimiser.phases)
                return
            except OtherRunError:
                raise
            except ValueError as error:
                warn(f"{error} Training its last part again.")
        with exclusive_lock(self.folder / LOCK, busy(self.folder)):
            yield from self._train(warn)

    def _train(self, warn: Callable[[str], None]) -> Iterator[Progress]:
        for difference in self.identity.environment_differences(self.folder):
            warn(f"{difference} Training goes on, but not bit-identically.")
        stage_index, iteration, pairs, states = self._restore(warn)
        self.metrics.truncate(stage_index, iteration)
        started = time.monotonic() - self.metrics.seconds()
        events = EventWriter(self.folder / "events", self._iterations_before(stage_index) + iteration)
        if (stage_index, iteration) == (0, 0) and all(stage.phase > 0 for stage in self.stages):
            self._save_phase(0, pairs)
        for progress in algorithm1(
            self.task,
            self.stages,
            self.method.make_step,
            self.keys,
            pairs,
            stage_index=stage_index,
            iteration=iteration,
            states=states,
        ):
            check_finite(progress, self.folder)
            with part("saving"):
                self._record(progress, events, time.monotonic() - started)
                self._save(progress)
            self.pairs = progress.pairs
            yield progress
        events.close()

    def iterations_done(self, progress: Progress) -> int:
        """Iterations of all stages so far."""
        return self._iterations_before(progress.stage_index) + progress.iteration

    def _iterations_before(self, stage_index: int) -> int:
        return sum(stage.iterations for stage in self.stages[:stage_index])

    def _record(self, progress: Progress, events: EventWriter, seconds: float) -> None:
        stage = progress.stage
        position = Position(progress.stage_index, stage.phase, stage.agent, progress.iteration)
        self.metrics.append(position, progress.metrics, seconds)
        for name, values in progress.metrics.items():
            events.scalar(f"{stage.agent}/{name}", sum(values) / len(values), self.iterations_done(progress))

    def _save(self, progress: Progress) -> None:
        """The pairs at the end of a phase, and a checkpoint from which training can go on."""
        stage, index, iteration = progress.stage, progress.stage_index, progress.iteration
        if iteration == stage.iterations:
            index, iteration = index + 1, 0
            if index == len(self.stages) or self.stages[index].phase != stage.phase:
                self._save_phase(stage.phase, progress.pairs)
        if index < len(self.stages):
            if self.checkpoint.exists():
                self.checkpoint.replace(self.folder / "previous.safetensors")
            notes = {"stage": str(index), "iteration": str(iteration), **self.identity.notes()}
            save_tree(self.checkpoint, (progress.pairs, progress.states), notes)

    def _save_phase(self, phase: int, pairs: Pair) -> None:
        save_tree(self.phase_file(phase), pairs, {"phase": str(phase), **self.identity.notes()})

    def _restore(self, warn: Callable[[str], None]) -> tuple[int, int, Pair, PyTree]:
        """The newest whole checkpoint; the start where there is none."""
        for path in (self.checkpoint, self.folder / "previous.safetensors"):
            if not path.exists():
                continue
            if is_old(path):
                raise ValueError(f"{path} is of an earlier version: finish this run with that one, or train another.")
            try:
                notes, _ = read_whole(path)
                self.identity.check(path, notes)
                index, iteration = int(notes["stage"]), int(notes["iteration"])
                if index < 0 or not 0 <= iteration < self.stages[index].iterations:
                    raise ValueError(f"{path} is at a stage that this run does not have.")
                like = self.pairs, init_states(self.stages[index], self.pairs, self.task)
                pairs, states = shard(load_tree(path, like), self.config.optimiser.batch)
                return index, iteration, pairs, states
            except OtherRunError:
                raise
            except (ValueError, KeyError, IndexError) as error:
                warn(f"{error} Going back to the checkpoint before it.")
        return 0, 0, self.pairs, None

    def pairs_after(self, phase: int) -> Pair:
        """The pairs as they were after a phase, one along each leading index."""
        path = self.phase_file(phase)
        notes, _ = read_whole(path)
        self.identity.check(path, notes)
        if notes.get("phase", str(phase)) != str(phase):
            raise ValueError(f"{path} holds the pairs after phase {notes['phase']}: it was renamed.")
        pairs = load_tree(path, self.pairs, upgrade_weight_name)
        if not is_finite(pairs):
            raise ValueError(f"{path} holds weights that are not finite: training diverged, train another pair.")
        return pairs

    def pair(self, phase: int | None = None, index: int = 0) -> Pair:
        """Teacher and student after a phase, by default the last."""
        pairs = self.pairs_after(self.config.optimiser.phases if phase is None else phase)
        return take_member(pairs, index)


def check_finite(progress: Progress, folder: Path) -> None:
    """Stop training where a loss or a weight is not finite, before anything is saved. A chunk's last step may make
    weights that no loss has seen yet."""
    figures = [name for name, values in progress.metrics.items() if not all(map(isfinite, values))]
    if figures or not is_finite((progress.pairs, progress.states)):
        stage = f"phase {progress.stage.phase}, {progress.stage.agent}, iteration {progress.iteration}"
        what = f"{figures[0].replace('_', ' ')} is" if figures else "weights are"
        raise ValueError(
            f"Training diverged ({stage}: {what} not finite). {folder} keeps the last finite checkpoint; start another "
            "run with a smaller --learning-rate or smaller weights."
        )


def is_finite(tree: PyTree) -> bool:
    return all(np.isfinite(np.asarray(leaf)).all() for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array)))


def busy(folder: Path) -> str:
    return f"{folder} is being trained by another process: wait until it ends, or stop it."


def new_run_folder(config: Config) -> Path:
    """runs/<game>-<date and time>, with the method where it is a baseline, and a number where that exists."""
    name = Path(config.game.space).stem if config.game.space else config.game.game
    method = config.method.method
    name += "" if method == "pragmatic" else f"-{method.replace(':', '-')}"
    start = "grounded" if config.grounding.grounded else "ungrounded"
    stem = f"{name}-{start}-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = Path("runs") / stem, 1
    while folder.exists():
        folder, number = Path("runs") / f"{stem}-{number}", number + 1
    return folder


def start_run(folder: Path, config: Config) -> Run:
    """A new run in an empty or new folder."""
    if (folder / "config.json").exists():
        raise ValueError(f"{folder} holds a run already: go on with --resume, or choose another --out.")
    if existing := sorted(name for pattern in FILES for name in folder.glob(pattern)):
        raise ValueError(
            f"{folder} has a {existing[0].name} already, which a run would overwrite: choose another --out."
        )
    task = make_task(config)
    check_ignored(config, task.space, task.rules.candidates)
    run = Run(folder, task)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            "format": FORMAT, "version": __version__, "config": asdict(run.config), "environment": environment(),
        }  # fmt: skip
        save_space(folder, task.space, run.config)
        write_atomic(folder / "config.json", json.dumps(content, indent=2).encode())
    except OSError as error:
        raise ValueError(f"{folder} cannot be made into a folder ({error.strerror}): choose another --out.") from None
    return run


def open_run(folder: Path | str, warn: Callable[[str], None] = print_warning) -> Run:
    """A run that exists, finished or not, with its own copy of its space. Where the file that the space was read from
    has changed since, `warn` is told.

    >>> run = implicature.open_run("runs/small")
    >>> run.finished, run.config.game.game
    (True, 'numbers-4')
    >>> pair = run.pair()  # teacher and student after the last phase; run.pair(0) is before the first
    >>> implicature.evaluate(run, games=200)["games"]
    200
    """
    folder = Path(folder)
    config = read_config(folder)
    return Run(folder, make_task(config, run_space(folder, config, warn)))


def with_layers(run: Run, layers: int) -> Run:
    """A run whose shared layers are applied more or less often than in training."""
    if not run.config.network.share_layers:
        raise ValueError(
            f"The layers of {run.folder} have weights of their own: leave out --layers, or train with --share-layers."
        )
    config = run.config.replace(layers=layers)
    check_config(config)
    return Run(run.folder, replace(run.task, config=config))


def resume_run(folder: Path | str, phases: int | None = None, warn: Callable[[str], None] = print_warning) -> Run:
    """A run to go on with; with more phases it goes on further, as if it had had them from the start."""
    folder = Path(folder)
    config = read_config(folder)
    if phases is not None and phases != (now := config.optimiser.phases):
        config.replace(phases=phases)  # checked
        if phases < now:
            raise ValueError(f"--phases is {phases}, but {folder} has {now} already: ask for more, or train another.")
        with exclusive_lock(folder / LOCK, busy(folder)):
            content = json.loads(read_text(folder / "config.json", MAX_CONFIG_BYTES))
            if content.get("format") != FORMAT:
                raise ValueError(f"{folder} is of an earlier version, which has no more phases: train another.")
            content["config"]["optimiser"]["phases"] = phases
            write_atomic(folder / "config.json", json.dumps(content, indent=2).encode())
            (folder / EXAMPLE).unlink(missing_ok=True)
    return open_run(folder, warn)


def read_config(folder: Path) -> Config:
    """The config of a run folder, of this version or an earlier one."""
    path = folder / "config.json"
    if not path.exists():
        raise ValueError(f"{folder} is not a run: it has no config.json. `implicature train` makes one.")
    try:
        content = json.loads(read_text(path, MAX_CONFIG_BYTES))
        values: dict[str, Any] = content["config"]
        if (found := content.get("format", 1)) not in (1, FORMAT):
            raise ValueError(f"Format {found} is not known.")
        values = flatten(values) if found == FORMAT else upgrade_config(values)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{path} cannot be read as the config of a run.") from None
    if unknown := sorted(values.keys() - GROUP_OF.keys()):
        raise ValueError(f"{path} has settings that this version does not know: {', '.join(unknown)[:200]}.")
    try:
        config = Config().replace(**values)
        check_config(config)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return config


def flatten(groups: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Settings by their flat names; one in a group where it does not belong keeps the group in its name."""
    return {
        name if GROUP_OF.get(name) == group else f"{group}.{name}": value
        for group, settings in groups.items()
        for name, value in settings.items()
    }
