"""Runs and records as pages for people: on the terminal."""
