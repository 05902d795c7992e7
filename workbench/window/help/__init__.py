"""The help: pages about one thing each, made of the texts that stand beside what they explain."""
