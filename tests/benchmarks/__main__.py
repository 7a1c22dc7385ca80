"""`make bench`: measure each group, compare it with installed peers, and print one table."""

from __future__ import annotations

import argparse
import sys

from tests.benchmarks.figures import table
from tests.benchmarks.groups import GROUPS, rows_of
from tests.benchmarks.pages import machine, write
from tests.benchmarks.scale import QUICK, WHOLE


def main() -> None:
    """Measure, print the table, and update the pages on request."""
    asked = _arguments()
    rows = []
    for group in asked.groups or GROUPS:
        for row in rows_of(group, QUICK if asked.quick else WHOLE):
            print(f"  {group}: {row.work}: {row.cells()[1]}", file=sys.stderr, flush=True)
            rows.append(row)
    print(table(rows))
    print(machine())
    if asked.quick:
        print("Small inputs and few rounds: the targets apply only to a full run.")
    if asked.write:
        write(rows)


def _arguments() -> argparse.Namespace:
    groups = "\n".join(f"  {name:<12}{words}" for name, words in GROUPS.items())
    parser = argparse.ArgumentParser(
        "python -m tests.benchmarks",
        description=__doc__,
        epilog=f"groups:\n{groups}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="measure only these groups")
    parser.add_argument("--quick", action="store_true", help="small inputs, few rounds: about a minute")
    parser.add_argument("--write", action="store_true", help="write the results to docs/performance.md and README.md")
    asked = parser.parse_args()
    if unknown := set(asked.groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    if asked.write and (asked.quick or asked.groups):
        parser.error("only the results of a full run can be written")
    return asked


if __name__ == "__main__":
    main()
