"""Generators and settings that several metrics share."""
