"""The program that is shipped to a host to look at unit files and to replace them: standard library alone, Python 3.8+.

`pack` runs on the console and makes the bytes; everything else runs on the host, from memory. It reads one JSON order a
line from stdin, prints JSON lines, and ends when its stdin closes; the lock that it holds ends with it. Words:

change   files that are replaced together, with what was there before: the unit's file, or the files of an overlay
record   what is kept of a change, numbered from 1, under the state folder: `units/UNIT/N.json`, `overlays/NAME/N.json`
text     the bytes of a file at one moment, kept by sha256 beside the records
"""
