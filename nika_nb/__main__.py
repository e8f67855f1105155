"""`python -m nika_nb` is `nika-nb`."""

import sys

from nika_nb.cli.main import main

sys.exit(main())
