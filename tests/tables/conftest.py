"""What the tests of tables share."""

from tests.priced import priced

__all__ = ["priced"]
