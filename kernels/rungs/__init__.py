"""A rung's file: its header, its facts, its text and its operands."""
