"""Profile folders that official MindSpore 2 wrote, read by the routes of the profiler. Most replies are its tables as they are.

What our own profiles can tell instead is in `profiles.py`, `profile_steps.py` and `profile_ranks.py`, where the routes are.
"""

from mindinsight.server.official import (
    about,
    advice,
    data,
    exported,
    files,
    marey,
    memory,
    operators,
    page,
    ranks,
    raw,
    steps,
    strategy,
)

__all__ = ["about", "advice", "data", "exported", "files", "marey", "memory", "operators", "page", "ranks", "raw", "steps", "strategy"]
