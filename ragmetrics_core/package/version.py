"""The version of this package, which records and run folders name."""

VERSION = "0.1.0"
