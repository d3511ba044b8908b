"""Functions out of source files, wherever these lie, in several languages."""
