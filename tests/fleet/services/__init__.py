"""Programs and units that are installed on the hosts: real processes that really run, fail and flood."""
