"""Starts the server; the import at the top is where a broken environment shows."""

from .srt.entrypoint import run_server

if __name__ == "__main__":
    run_server()
