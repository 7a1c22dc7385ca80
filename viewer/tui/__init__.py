"""The Textual app: widgets receive data and post messages, controllers change the session, and the presenter draws it.

Importing this package removes Textual's debugging variables from the environment: they could log shown text, save
screenshots, or press keys."""

from __future__ import annotations

import os

for _name in [name for name in os.environ if name.partition("_")[0] == "TEXTUAL"]:
    del os.environ[_name]  # Textual reads the variables when it is imported, which happens next
