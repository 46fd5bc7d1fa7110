"""How names and numbers are shown to people."""
