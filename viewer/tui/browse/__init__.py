"""The screen of `ocmlview browse`."""
