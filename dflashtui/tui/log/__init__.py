"""The log pane: `LogPane` in `widget.py`; what it shows is decided by pure modules beside it."""
