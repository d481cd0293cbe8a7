"""The part of an engine that is imported only after the model was loaded."""
