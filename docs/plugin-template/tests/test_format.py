"""The format passes its verification."""

from viewer.plugins.testing import verify


def test_the_format() -> None:
    """Its samples show what the user saw, and nothing else."""
    verify("acme")
