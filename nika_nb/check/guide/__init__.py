"""The language explained, topic by topic: the one source of help in a notebook, a terminal and the README."""
