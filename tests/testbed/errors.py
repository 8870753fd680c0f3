"""What ends a command of the test bed."""


class BedError(Exception):
    """What the user is told, in one line."""


class NotHere(BedError):
    """No fault of the user's: this machine cannot have a bed."""
