"""`python -m workbench` is `workbench`."""

import sys


def start() -> int:
    """Run the command line; Ctrl+C while that is imported is as quiet as later."""
    try:
        from workbench.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 130  # as of `main`


if __name__ == "__main__":
    sys.exit(start())
