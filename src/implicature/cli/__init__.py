"""The command line."""

import time

STARTED = time.perf_counter()
"""When the command was started, but for Python itself."""
