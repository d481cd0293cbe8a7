"""A stand-in for an inference engine: a real HTTP server with known answers, times and faults; no package needed."""
