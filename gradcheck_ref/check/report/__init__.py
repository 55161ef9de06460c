"""The results of a check as data, words, tables and a picture."""
