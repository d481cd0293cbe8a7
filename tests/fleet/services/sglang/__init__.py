"""A package of the shape of SGLang's, so that a failing import has a real chain of frames."""
