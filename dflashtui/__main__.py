"""`python -m dflashtui`: the same as the command `dflashtui`."""

from dflashtui.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
