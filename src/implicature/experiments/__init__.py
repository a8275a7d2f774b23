"""One module for each table or figure: its tasks, `run(task) -> results`, `render(results) -> tables`."""
