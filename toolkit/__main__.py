"""`python -m toolkit`, the same as the `toolkit` command."""

from __future__ import annotations

import sys

from toolkit.cli import main

sys.exit(main())
