"""What the main screen does for its log panes: it reads journals, the panes show them."""
