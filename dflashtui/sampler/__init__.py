"""The program that is shipped to hosts: standard library and pynvml alone, Python 3.8 and newer."""
