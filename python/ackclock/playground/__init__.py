"""The playground in a browser: its files, a server for this machine, and the native engine behind the same messages."""
