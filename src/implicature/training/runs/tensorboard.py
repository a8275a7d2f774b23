"""TensorBoard events, each flushed at once. No background thread: tensorboardX's hangs for ever when Ctrl-C comes
between two of its steps."""

import time
from pathlib import Path

from tensorboardX.event_file_writer import EventsWriter
from tensorboardX.proto.event_pb2 import Event, SessionLog  # pyright: ignore[reportAttributeAccessIssue]
from tensorboardX.proto.summary_pb2 import Summary  # pyright: ignore[reportAttributeAccessIssue]

from implicature.files import name_in_errors


class EventWriter:
    def __init__(self, folder: Path, step: int):
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._writer = EventsWriter(str(folder / "events"), f".{time.time_ns()}")
        # TensorBoard then hides later steps that were written before an interruption.
        self._write(Event(wall_time=time.time(), step=step, session_log=SessionLog(status=SessionLog.START)))

    def scalar(self, name: str, value: float, step: int) -> None:
        summary = Summary(value=[Summary.Value(tag=name, simple_value=value)])
        self._write(Event(wall_time=time.time(), step=step, summary=summary))

    def _write(self, event: Event) -> None:
        with name_in_errors(self._folder):
            self._writer.write_event(event)
            self._writer.flush()

    def close(self) -> None:
        self._writer.close()
