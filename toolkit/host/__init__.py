"""The one door to the machine: everything that reads /sys, /proc or runs a command goes through a Host."""
