"""The program that is shipped to a host to send, take, exchange and put back files of installed packages.

Standard library alone, Python 3.8 and newer; runs with the environment's own interpreter, as whoever owns it. `pack`
runs on the console. What it replaces it keeps in `.dflashtui-sync` beside the packages, with a record of each exchange.
"""
