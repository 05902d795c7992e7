"""What a rung's file says: its header, its facts, its text and its operands."""
