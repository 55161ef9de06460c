"""Talking to another process in lines of text: its messages, and a child that may misbehave."""
