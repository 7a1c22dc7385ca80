"""`make fuzz`: a long campaign; OCML_FUZZ_SECONDS and OCML_FUZZ_SEED set its length and its seed."""

from __future__ import annotations

import os
import sys

from tests.fuzz.campaign import run_campaign
from tests.fuzz.targets import TRIED

SECONDS = float(os.environ.get("OCML_FUZZ_SECONDS", "3600"))
SEED = int(os.environ.get("OCML_FUZZ_SEED", "1"))

if __name__ == "__main__":
    done = run_campaign(SECONDS, SEED * 10_000_000)
    sys.stdout.write(
        f"{done.inputs:,} inputs, {done.runs:,} runs of {len(TRIED)} targets in {SECONDS:,.0f} s: no crash, no hang; "
        f"the slowest run took {done.slowest:.2f} s ({done.slowest_target})\n"
    )
