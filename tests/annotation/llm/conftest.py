import os

collect_ignore = [] if os.environ.get("OPEN_SERVER_PYTHON") else ["test_open_server.py"]
"""It needs an environment of a gigabyte: `make open-server`."""
