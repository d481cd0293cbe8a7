"""From the lines of a log to the cause of a failure. Pure and streaming: a line in, state out, constant memory."""
