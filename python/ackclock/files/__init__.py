"""Files of users and of the program: read up to a size limit, checked, and written atomically."""
