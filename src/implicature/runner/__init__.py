"""Where an experiment's tasks are carried out. An engine takes jobs and tells what becomes of each, as it happens; the
command alone writes rows. What a task gives does not depend on the engine, as every worker has one core to itself."""

from collections.abc import Callable, Generator, Sequence

from implicature.runner.local import on_this_machine
from implicature.runner.ray import on_ray
from implicature.runner.tasks import Event, Job, Options

Engine = Callable[[Sequence[Job], Options], Generator[Event, None, None]]
ENGINES: dict[str, Engine] = {"local": on_this_machine, "ray": on_ray}
