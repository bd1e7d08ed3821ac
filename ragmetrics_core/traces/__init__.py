"""Traces of applications: spans in the forms that tools write, and the samples in them."""
