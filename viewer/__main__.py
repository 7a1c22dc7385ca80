"""Run `python -m viewer` as `ocmlview`."""

from viewer.cli import main

if __name__ == "__main__":
    main()
