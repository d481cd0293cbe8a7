"""The program that is shipped to hosts: standard library and pynvml alone, Python 3.8 and newer.

`pack` runs on the console and makes the bytes; everything else runs on the host, from memory, and writes no file.
It reads one JSON order a line from stdin, prints one JSON line a tick, and ends when its stdin closes.
"""
