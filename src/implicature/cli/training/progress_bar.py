"""Training with a bar that shows the stage, the reward and the accuracy on validation games."""

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from implicature.training.appointment.run import AppointmentRun
from implicature.training.runs.run import Run
from implicature.training.stages import phase_name


def train_with_bar(
    run: Run | AppointmentRun, quiet: bool, first_phase_begins: Callable[[], None] = lambda: None
) -> None:
    """Warnings are shown even if quiet; paths and names are printed as they are, not as markup and not folded."""
    console = Console(stderr=True)

    def show(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(),
    )  # fmt: skip
    if not quiet:
        show(f"Training in {run.folder}")
    with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
        task = bar.add_task("compiling …", total=run.total_iterations)
        for progress in run.train(show):
            if progress.stage.phase > 0:
                first_phase_begins()
            stage = phase_name(run.config, progress.stage.phase)
            means = {name: sum(values) / len(values) for name, values in progress.metrics.items()}
            shown = "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in means.items())
            description = f"{stage}, {progress.stage.agent}:  {shown}"
            bar.update(task, completed=run.iterations_done(progress), description=description)
