"""One module a table or figure: settings, run → rows, render(rows) → picture."""
