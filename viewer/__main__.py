"""Run `python -m viewer` as `ocmlview`."""

from viewer.entry import main

if __name__ == "__main__":
    main()
