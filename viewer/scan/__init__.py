"""Find regular messages in whole blocks with NumPy; everything else goes to the parser."""
