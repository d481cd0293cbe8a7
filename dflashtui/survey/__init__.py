"""The program that is shipped to a host to look at one unit's Python environment.

Standard library alone, Python 3.8 and newer, free-threaded builds too.

`pack` runs on the console and makes the bytes. Everything else runs on the host, from memory, as the unit's user, with
the unit's interpreter, environment and folder: `enter` takes these on, `main` reads one request and prints JSON lines.
It imports none of what it looks at.
"""
