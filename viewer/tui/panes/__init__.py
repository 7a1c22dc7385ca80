"""The outline and inspector panes, and the building blocks of all panes: frames, lists, and signs."""
