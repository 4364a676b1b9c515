"""What is measured, a file a family."""
