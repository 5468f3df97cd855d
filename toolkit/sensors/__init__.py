"""Temperatures and what belongs to them: hwmon, the CPU headline, throttling, clocks, power, recordings."""
