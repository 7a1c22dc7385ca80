"""The forms of export."""
