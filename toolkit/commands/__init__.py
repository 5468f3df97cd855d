"""The sub-commands: each file has HELP, add_arguments(parser) and run(args, host) -> exit status."""
