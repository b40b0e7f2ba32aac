"""Property tests explore on a developer's machine; with CI set they try the same examples in every run."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")
