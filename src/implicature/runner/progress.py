"""What is done, running and pending, with an estimate of the time left: a live table, or a line when a task ends."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from threading import RLock

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from implicature.experiments.results import TaskSpec, format_duration, setting_name, task_id
from implicature.runner.schedule import Durations, makespan
from implicature.runner.tasks import Event


class Progress:
    """Follows the tasks that an experiment still has to run."""

    def __init__(
        self,
        name: str,
        tasks: Sequence[TaskSpec],
        unfinished: Sequence[TaskSpec],
        durations: Durations,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name, self.tasks, self.unfinished, self.durations, self.clock = name, tasks, unfinished, durations, clock
        self.started: dict[int, float] = {}
        """When each job first started."""
        self.running: set[int] = set()
        self.ended: dict[int, str] = {}
        """The state of each job that has ended."""
        self.lock = RLock()
        """The live table is drawn in a thread of its own."""

    def update(self, event: Event) -> None:
        with self.lock:
            if event.state == "started":
                self.started.setdefault(event.job, self.clock())
                self.running.add(event.job)
                return
            self.running.discard(event.job)
            if event.state == "finished":
                self.durations.add(self.unfinished[event.job], self.elapsed(event.job))
            if event.state != "lost":
                self.ended[event.job] = event.state

    def elapsed(self, job: int) -> float:
        return self.clock() - self.started.get(job, self.clock())

    def n_done(self) -> int:
        """Tasks with results, of this command or an earlier one."""
        return len(self.tasks) - len(self.unfinished) + sum(state == "finished" for state in self.ended.values())

    def n_failed(self) -> int:
        return sum(state == "failed" for state in self.ended.values())

    def pending(self) -> list[int]:
        return [n for n in range(len(self.unfinished)) if n not in self.running and n not in self.ended]

    def seconds_left(self) -> float | None:
        """If as many tasks run at once as do now; None while no task has been measured."""
        if self.durations.expected(self.unfinished[0]) is None:
            return None

        def expected(job: int) -> float:
            return self.durations.expected(self.unfinished[job]) or 0.0

        # A task that is over time already is expected to take a tenth longer.
        busy = [max(expected(n) - self.elapsed(n), self.elapsed(n) / 10) for n in self.running]
        return makespan(map(expected, self.pending()), max(1, len(busy)), busy)

    def heading(self) -> str:
        counts = f"{self.n_done()} of {len(self.tasks)} done, {len(self.running)} running"
        counts += f", {len(self.pending())} pending"
        counts += f", {self.n_failed()} failed" if self.n_failed() else ""
        left = self.seconds_left()
        estimate = "no estimate yet" if left is None else f"about {format_duration(left)} left"
        return f"{self.name}: {counts}; {estimate}"

    def __rich__(self) -> Group:
        with self.lock:
            return Group(Text(self.heading(), style="bold"), self.table())

    def table(self) -> Table:
        """A row for each setting; running ones come first, as a small window shows only the first rows."""
        key = self.durations.key
        unfinished = [setting_name(task, key) for task in self.unfinished]
        done = Counter(setting_name(task, key) for task in self.tasks)
        done -= Counter(unfinished)
        done += Counter(unfinished[job] for job, state in self.ended.items() if state == "finished")
        pending = Counter(unfinished[job] for job in self.pending())
        running: dict[str, list[int]] = {}
        for job in self.running:
            running.setdefault(unfinished[job], []).append(job)
        table = Table(box=None, padding=(0, 2, 0, 0))
        for column in ("setting", "done", "running", "pending", "time per task"):
            table.add_column(column, justify="left" if column == "setting" else "right", no_wrap=True)
        examples = {setting_name(task, key): task for task in reversed(self.tasks)}
        names = list(dict.fromkeys(setting_name(task, key) for task in self.tasks))
        for name in sorted(names, key=lambda name: (name not in running, not pending[name])):
            longest = max(map(self.elapsed, running.get(name, ())), default=0.0)
            now = f"{len(running[name])} ({format_duration(longest)})" if name in running else ""
            expected = self.durations.expected(examples[name])
            duration = "" if expected is None else format_duration(expected)
            table.add_row(escape(name), str(done[name] or ""), now, str(pending[name] or ""), duration)
        return table

    def line(self, event: Event) -> str:
        """An event as a line of text."""
        task = " ".join(task_id(self.unfinished[event.job], self.durations.key))
        start = f"{self.n_done()}/{len(self.tasks)} {task}:"
        if event.state != "finished":
            return f"{start} {event.state}: {event.message}"
        left = self.seconds_left() if self.running or self.pending() else None
        more = "" if left is None else f"; about {format_duration(left)} left"
        return f"{start} done in {format_duration(self.elapsed(event.job))}{more}"

    def to_json(self, event: Event) -> str:
        """An event as a JSON object."""
        left = self.seconds_left()
        fields = {"task": self.unfinished[event.job], "state": event.state, "worker": event.worker}
        if event.state != "started":
            fields["seconds"] = round(self.elapsed(event.job), 1)
        if event.message:
            fields["message"] = event.message
        counts = {"done": self.n_done(), "running": len(self.running), "pending": len(self.pending())}
        return json.dumps(
            {**fields, **counts, "seconds_left": None if left is None else round(left, 1)}, ensure_ascii=False
        )


class LiveView:
    """Progress as a live table on a terminal, as lines where there is none, or as JSON on standard output."""

    def __init__(self, progress: Progress, as_json: bool):
        self.progress, self.as_json = progress, as_json
        self.console, self.out = Console(stderr=True), sys.stdout
        window = self.console.is_terminal and not as_json
        self.live = Live(progress, console=self.console, refresh_per_second=2, transient=True) if window else None

    def __enter__(self) -> "LiveView":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.live.stop()

    def update(self, event: Event) -> None:
        self.progress.update(event)
        if self.as_json:
            print(self.progress.to_json(event), file=self.out, flush=True)
        elif event.state != "started" and not (self.live and event.state == "finished"):
            self.console.print(self.progress.line(event), markup=False, highlight=False, soft_wrap=True)
