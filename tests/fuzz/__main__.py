"""`make fuzz`: a long campaign. OCML_FUZZ_SECONDS, OCML_FUZZ_SEED and OCML_FUZZ_ONLY set its length, seed and
targets."""

from __future__ import annotations

import os
import sys

from tests.fuzz.campaign import run_campaign
from tests.fuzz.targets import TRIED

SECONDS = float(os.environ.get("OCML_FUZZ_SECONDS", "3600"))
SEED = int(os.environ.get("OCML_FUZZ_SEED", "1"))
ONLY = [name for name in os.environ.get("OCML_FUZZ_ONLY", "").split(",") if name]

if __name__ == "__main__":
    done = run_campaign(SECONDS, SEED * 10_000_000, only=ONLY)
    sys.stdout.write(
        f"{done.inputs:,} inputs, {done.runs:,} runs of {len(ONLY or TRIED)} targets in {SECONDS:,.0f} s: no crash, "
        f"no hang; the slowest run took {done.slowest:.2f} s ({done.slowest_target})\n"
    )
