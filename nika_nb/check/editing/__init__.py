"""What an editor asks of a half-written workflow: where a cursor stands, what may follow, what words mean."""
