"""Rules that answer every prompt other than verdicts on statements, and prepare these."""
