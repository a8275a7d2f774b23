"""What is done, running and to come, with an estimate of the rest: a live table, or a line when a task ends."""

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

from implicature.experiments.results import Row
from implicature.runner import Event
from implicature.runner.schedule import Times, identity, setting, span, wall


class Board:
    """Follows the tasks that are left of an experiment's."""

    def __init__(
        self,
        name: str,
        tasks: Sequence[Row],
        left: Sequence[Row],
        times: Times,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name, self.tasks, self.left, self.times, self.clock = name, tasks, left, times, clock
        self.begun: dict[int, float] = {}
        """When each task first began."""
        self.running: set[int] = set()
        self.over: dict[int, str] = {}
        """How each task that is over ended."""
        self.lock = RLock()
        """The live table is drawn in a thread of its own."""

    def note(self, event: Event) -> None:
        with self.lock:
            self._note(event)

    def _note(self, event: Event) -> None:
        if event.state == "began":
            self.begun.setdefault(event.number, self.clock())
            self.running.add(event.number)
            return
        self.running.discard(event.number)
        if event.state == "ended":
            self.times.add(self.left[event.number], self.elapsed(event.number))
        if event.state != "lost":
            self.over[event.number] = event.state

    def elapsed(self, number: int) -> float:
        return self.clock() - self.begun.get(number, self.clock())

    def done(self) -> int:
        """Tasks with rows, of this command or of one before it."""
        return len(self.tasks) - len(self.left) + sum(state == "ended" for state in self.over.values())

    def failed(self) -> int:
        return sum(state == "failed" for state in self.over.values())

    def to_come(self) -> list[int]:
        return [n for n in range(len(self.left)) if n not in self.running and n not in self.over]

    def rest(self) -> float | None:
        """Seconds to go, if as many tasks run at once as do now; none while no task has been measured."""
        if self.times.expected(self.left[0]) is None:
            return None

        def expected(number: int) -> float:
            return self.times.expected(self.left[number]) or 0.0

        # Who is over time already is taken to need a tenth more.
        busy = [max(expected(n) - self.elapsed(n), self.elapsed(n) / 10) for n in self.running]
        return wall(map(expected, self.to_come()), max(1, len(busy)), busy)

    def heading(self) -> str:
        counts = f"{self.done()} of {len(self.tasks)} done, {len(self.running)} running, {len(self.to_come())} to come"
        failed = f", {self.failed()} failed" if self.failed() else ""
        rest = self.rest()
        return f"{self.name}: {counts}{failed}; " + ("no estimate yet" if rest is None else f"about {span(rest)} to go")

    def __rich__(self) -> Group:
        with self.lock:
            return Group(Text(self.heading(), style="bold"), self.table())

    def table(self) -> Table:
        """A line for each setting: what runs comes first, as a small window shows only the first lines."""
        key = self.times.key
        left = [setting(task, key) for task in self.left]
        missing = Counter(left)
        done = Counter(setting(task, key) for task in self.tasks)
        done -= missing
        done += Counter(left[number] for number, state in self.over.items() if state == "ended")
        coming = Counter(left[number] for number in self.to_come())
        running: dict[str, list[int]] = {}
        for number in self.running:
            running.setdefault(left[number], []).append(number)
        table = Table(box=None, padding=(0, 2, 0, 0))
        for column in ("setting", "done", "running", "to come", "a task takes"):
            table.add_column(column, justify="left" if column == "setting" else "right", no_wrap=True)
        examples = {setting(task, key): task for task in reversed(self.tasks)}
        names = list(dict.fromkeys(setting(task, key) for task in self.tasks))
        for name in sorted(names, key=lambda name: (name not in running, not coming[name])):
            longest = max(map(self.elapsed, running.get(name, ())), default=0.0)
            now = f"{len(running[name])} ({span(longest)})" if name in running else ""
            expected = self.times.expected(examples[name])
            takes = "" if expected is None else span(expected)
            table.add_row(escape(name), str(done[name] or ""), now, str(coming[name] or ""), takes)
        return table

    def line(self, event: Event) -> str:
        task = " ".join(identity(self.left[event.number], self.times.key))
        rest = self.rest()
        if event.state == "ended":
            to_go = "" if rest is None or not (self.running or self.to_come()) else f"; about {span(rest)} to go"
            return f"{self.done()}/{len(self.tasks)} {task}: done in {span(self.elapsed(event.number))}{to_go}"
        return f"{self.done()}/{len(self.tasks)} {task}: {event.state}: {event.sentence}"

    def record(self, event: Event) -> str:
        """The event as a JSON object."""
        rest = self.rest()
        told = {"task": self.left[event.number], "state": event.state, "where": event.where}
        if event.state != "began":
            told["seconds"] = round(self.elapsed(event.number), 1)
        if event.sentence:
            told["sentence"] = event.sentence
        counts = {"done": self.done(), "running": len(self.running), "to_come": len(self.to_come())}
        return json.dumps({**told, **counts, "rest": None if rest is None else round(rest, 1)}, ensure_ascii=False)


class Shown:
    """A board on a terminal, as lines where there is none, or as JSON on standard output."""

    def __init__(self, board: Board, as_json: bool):
        self.board, self.as_json = board, as_json
        self.console, self.out = Console(stderr=True), sys.stdout
        window = self.console.is_terminal and not as_json
        self.live = Live(board, console=self.console, refresh_per_second=2, transient=True) if window else None

    def __enter__(self) -> "Shown":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.live.stop()

    def note(self, event: Event) -> None:
        self.board.note(event)
        if self.as_json:
            print(self.board.record(event), file=self.out, flush=True)
        elif event.state != "began" and not (self.live and event.state == "ended"):
            self.console.print(self.board.line(event), markup=False, highlight=False, soft_wrap=True)
