"""Benches that users run, a module each with `run(arguments)`: `workbench bench NAME`."""
