"""Functions to differentiate, and what their gradients are compared with."""
