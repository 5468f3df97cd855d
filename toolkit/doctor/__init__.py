"""What is missing on a machine or in an installation, what that costs, and what brings it."""
