"""The documentation: pages generated from the tables of the code, and checks of the rest."""
