"""Plans of many measurements, the records they leave, and the published tables they reproduce."""
