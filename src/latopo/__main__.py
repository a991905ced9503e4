"""``python -m latopo``: the command line."""

from latopo.cli import main

if __name__ == "__main__":
    main()
