"""Runs and records as pages for people: on the terminal, and as one HTML file."""
