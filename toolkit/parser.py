"""An ArgumentParser whose errors are one line, as all errors of this program."""

from __future__ import annotations

import argparse
from typing import NoReturn

from toolkit.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print the whole usage and exit."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with argparse's own words and where help is."""
        raise UsageError(message, f"{self.prog} --help")
