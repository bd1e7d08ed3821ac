"""The package itself: its version, and names that it loads late."""
