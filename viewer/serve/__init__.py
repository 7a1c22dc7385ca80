"""The served view: the viewer in a browser, on this machine, behind a guard."""
