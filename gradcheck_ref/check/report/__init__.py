"""What a check found, in data, words, tables and a picture."""
