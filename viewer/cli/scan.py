"""`ocmlview scan`: read many transcripts and write tables that `ocmlview sql` queries."""

from __future__ import annotations

import shlex
import sys
import time
from typing import TYPE_CHECKING

import click

from viewer.cli import completion, options
from viewer.cli.exits import FINDINGS, FINE, INTERRUPTED, USAGE, complain, say
from viewer.cli.output import write_text
from viewer.corpus.packages import check_packages
from viewer.errors import ViewerError
from viewer.model.visibility import Reveal

if TYPE_CHECKING:
    from viewer.corpus.engines.attempts import Engine
    from viewer.corpus.part import Job
    from viewer.corpus.progress import Reporter
    from viewer.corpus.scan import Totals
    from viewer.corpus.tables import Contents

_MAX_SIZE = "10GB"


def _size(context: click.Context, parameter: click.Parameter, value: str) -> int:
    from viewer.sources.limits import parse_size

    size = parse_size(value)
    if size is None:
        raise click.BadParameter(f"{value!r} is not a size such as 500MB or 10GB.", context, parameter)
    return size


@click.command("scan", short_help="Scan many transcripts into tables.")
@click.argument("places", nargs=-1, metavar="FILE|DIR|URL|@MANIFEST...", shell_complete=completion.files)
@click.option("--to", "target", metavar="DIR", help="Write the tables to DIR, a folder or an object-store URL.")
@click.option(
    "--engine", type=click.Choice(["local", "ray"]), default="local", metavar="NAME", help="local (default) or ray."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Use N processes; default: all CPUs.")
@click.option("--address", metavar="A", help="Address of a Ray cluster; default: RAY_ADDRESS, or a local cluster.")
@click.option("--resume", is_flag=True, help="Skip files that are already in DIR and unchanged (default).")
@click.option("--again", is_flag=True, help="Also scan files that are already in DIR and unchanged.")
@click.option("--retry-failed", is_flag=True, help="Also retry files that could not be read.")
@click.option("--estimate", is_flag=True, help="Estimate rate, size, and hours from a sample; write nothing.")
@click.option("--compact", is_flag=True, help="Merge the parts of DIR and drop superseded rows.")
@options.reveal_option
@click.option("--strict-safe", is_flag=True, help="Do not record that anything is hidden.")
@click.option("--text", is_flag=True, help="Store the text of the messages that the audience sees.")
@click.option("--leaks", is_flag=True, help="Store the leak score of each file; requires --reveal all.")
@click.option("--by-content", is_flag=True, help="Identify files by content hash instead of modification time.")
@click.option("--root", metavar="DIR", help="Store paths relative to DIR.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="Give up on a file after SECONDS plus 4 s per MB; default: 60.",
)
@click.option(
    "--max-size", callback=_size, default=_MAX_SIZE, metavar="SIZE", help=f"Skip larger files; default: {_MAX_SIZE}."
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if problems are found.")
@click.option("--json", "as_json", is_flag=True, help="Print progress and result as JSON Lines.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
def command(
    places: tuple[str, ...],
    target: str | None,
    engine: str,
    jobs: int | None,
    address: str | None,
    resume: bool,
    again: bool,
    retry_failed: bool,
    estimate: bool,
    compact: bool,
    reveal: frozenset[Reveal],
    strict_safe: bool,
    text: bool,
    leaks: bool,
    by_content: bool,
    root: str | None,
    timeout: float,
    max_size: int,
    strict: bool,
    exit_zero: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Read any number of transcripts and write Parquet tables for `ocmlview sql`. The tables contain the safe view,
    with the positions and codes of problems, unless you pass --reveal and a directory that ends in .DEBUG. Run the same
    command again to continue, or to read only new files. Exits with 1 if errors are found, and with 2 if a file could
    not be read."""
    check_packages("scan")
    if engine == "ray":
        check_packages("scan --engine ray", "ray")
    elif address is not None:
        raise click.UsageError("--address needs --engine ray.", click.get_current_context())
    for first, second, both in (("--resume", "--again", resume and again), ("--json", "--quiet", as_json and quiet)):
        if both:
            raise click.UsageError(f"{first} and {second} cannot be used together.", click.get_current_context())
    audience = options.audience_of(reveal, False, strict_safe)
    if Reveal.BRIEF in audience.revealed:
        raise ViewerError("scan has no brief level; list the kinds to reveal, such as --reveal tool,commentary")
    if leaks and not audience.reveals(Reveal.ALL):
        raise ViewerError("--leaks needs --reveal all: the score is derived from hidden text")
    from viewer.corpus.tables import contents_of

    contents = contents_of(audience, text=text, leaks=leaks, by_content=by_content)
    if not places and not compact:
        raise click.UsageError("Specify files, folders, URLs, or @MANIFEST.", click.get_current_context())
    if estimate:
        return _estimate(places, contents, root, max_size)
    if target is None:
        raise click.UsageError("Specify a directory for the tables: --to DIR.", click.get_current_context())
    from viewer.corpus.listing import Listing
    from viewer.corpus.part import Job
    from viewer.corpus.scan import Directory, Scan, new_run_id

    listing = Listing(places, root=root, output=target)
    run_id = new_run_id()
    job = Job(target, contents, run_id, max_size)
    began = time.monotonic()
    with Directory(target, contents) as directory:
        is_complete = True
        if places:
            arguments = _arguments(contents, root, again, retry_failed)
            scan = Scan(directory, listing, job, again=again, retry_failed=retry_failed, arguments=arguments)
            worker = _engine(engine, job, jobs, timeout, address)
            try:
                is_complete = scan.run(worker, _reporter(as_json, quiet))
            finally:
                worker.close()
            totals = scan.totals
        if compact and is_complete:
            from viewer.corpus.compact import compact_directory

            merged = compact_directory(directory)
            if not quiet:
                say(f"{target}: merged {merged.before:,} parts into {merged.after:,}")
    if not places:
        return FINE
    _report(totals, time.monotonic() - began, job, target, is_complete, as_json=as_json, quiet=quiet)
    if not is_complete:
        return INTERRUPTED
    if totals.has_failed:
        return USAGE
    return FINDINGS if not exit_zero and (totals.has_errors or (strict and totals.has_warnings)) else FINE


def _arguments(contents: Contents, root: str | None, again: bool, retry_failed: bool) -> str:
    """Return the options of a run, without its paths, for the table of runs."""
    flags = {
        "--strict-safe": contents.strict_safe,
        "--text": contents.text,
        "--leaks": contents.leaks,
        "--by-content": contents.by_content,
        "--again": again,
        "--retry-failed": retry_failed,
        "--root": root is not None,
    }
    reveal = [f"--reveal {','.join(contents.reveal)}"] if contents.reveal else []
    return " ".join([*reveal, *(flag for flag, is_set in flags.items() if is_set)])


def _engine(name: str, job: Job, jobs: int | None, timeout: float, address: str | None) -> Engine:
    if name == "ray":
        from viewer.corpus.engines.ray import RayEngine

        on_cluster: Engine = RayEngine(job, jobs, timeout, address)
        return on_cluster
    from viewer.corpus.engines.local import LocalEngine, available_cpus

    return LocalEngine(job, jobs or available_cpus(), timeout)


def _reporter(as_json: bool, quiet: bool) -> Reporter:
    from viewer.corpus import progress

    if quiet:
        return progress.Reporter(lambda line: None, progress.SELDOM)
    if as_json:
        return progress.JsonReporter(lambda line: write_text(line + "\n"), progress.EACH_SECOND)
    if sys.stderr is not None and sys.stderr.isatty():
        return progress.TerminalReporter(_draw, progress.OFTEN)
    return progress.Reporter(lambda line: say(line.rstrip("\n")), progress.SELDOM)


def _draw(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _report(
    totals: Totals, seconds: float, job: Job, target: str, is_complete: bool, *, as_json: bool, quiet: bool
) -> None:
    from viewer.corpus import progress
    from viewer.render.sanitize import sanitize_line

    if as_json:
        write_text(progress.summary_json(totals, seconds, job.run_id) + "\n")
    elif not quiet and is_complete:
        flag = " -d" if job.contents.reveal else ""
        following = f"ocmlview sql @top-diagnostics {shlex.quote(target)}{flag}"
        lines = progress.summary_lines(totals, seconds, job.run_id, following)
        write_text("".join(f"{sanitize_line(line, 1000)}\n" for line in lines))
    if not is_complete and not quiet:
        complain(progress.stopped_sentence(totals))


def _estimate(places: tuple[str, ...], contents: Contents, root: str | None, max_size: int) -> int:
    from viewer.corpus.estimate import estimate_lines
    from viewer.corpus.listing import Listing

    write_text("".join(f"{line}\n" for line in estimate_lines(Listing(places, root=root), contents, max_size)))
    return FINE
