"""toolkit: temperatures, disks, pools and rescue procedures for Linux laptops.

This package is the core: it knows nothing of Textual and can be used from Python and from the
command line alone. `screens` holds the terminal interface.
"""

from __future__ import annotations

__version__ = "0.1.0"
