"""What a run needs from the machine: a file per kind of need, with the look-up that finds what is missing."""
