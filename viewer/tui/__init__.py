"""App: widgets receive data and send messages, controllers change the session, and the presenter draws it.

Textual's environment switches would log shown text, take pictures of it, or press keys: they are removed.
"""

from __future__ import annotations

import os

for _name in [name for name in os.environ if name.partition("_")[0] == "TEXTUAL"]:
    del os.environ[_name]  # Textual reads them when it is imported, which is next
