"""The documentation: what of it is made from the tables of the code, and whether the rest is true."""
