"""The same examples on every run, however slow the first one compiles."""

from hypothesis import settings

settings.register_profile("implicature", deadline=None, derandomize=True)
settings.load_profile("implicature")
