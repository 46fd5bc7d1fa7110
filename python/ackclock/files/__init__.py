"""Files of users and of the program: read up to a limit, checked, and written completely or not at all."""
