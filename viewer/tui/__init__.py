"""The app: widgets are given data and send messages; only screens change things.

Switches of Textual in the environment would log what is shown, take pictures of it or press keys: they are dropped.
"""

from __future__ import annotations

import os

for _name in [name for name in os.environ if name.partition("_")[0] == "TEXTUAL"]:
    del os.environ[_name]  # Textual reads them when it is imported, which is next
