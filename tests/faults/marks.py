"""`@fault("A1", how="…", result="…")`: the test shows what becomes of that fault. `stand_in`: what it stands for."""

from __future__ import annotations

import pytest

fault = pytest.mark.fault
"""Number of the catalogue; `how` it is injected; `result`: what happens; `stand_in`: what a container cannot do."""
