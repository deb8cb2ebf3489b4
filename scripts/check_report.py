"""How the checks of a checkout end."""

import pathlib
import sys
from collections.abc import Callable


def report(check: Callable[[pathlib.Path], list[str]]) -> int:
    """Prints what `check` finds in the checkout that the command line names (this one if it names none).

    Returns the exit status: 1 if it found anything.
    """
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    errors = check(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0
