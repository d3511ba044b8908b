"""`python -m cosqa`: the command `cosqa` where its script is not on the path."""

from cosqa.command import main

if __name__ == "__main__":
    main()
