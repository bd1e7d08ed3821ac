"""What several metrics do alike: generators and settings that they share."""
