"""Where the tasks of an experiment run: on this machine or on a Ray cluster. An engine takes jobs and yields events as
they happen; only the command writes results. Results do not depend on the engine, as every worker has one core."""

from collections.abc import Callable, Generator, Sequence

from implicature.runner.local import run_local
from implicature.runner.ray import run_on_ray
from implicature.runner.tasks import Event, Job, Options

Engine = Callable[[Sequence[Job], Options], Generator[Event, None, None]]
ENGINES: dict[str, Engine] = {"local": run_local, "ray": run_on_ray}
