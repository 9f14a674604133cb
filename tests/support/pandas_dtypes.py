"""Dtypes that depend on the version of pandas, for tests that run with several."""

from __future__ import annotations

import pandas as pd

PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
TEXT = "str" if PANDAS >= (2, 3) else "string"
