"""Test pictures made by code."""
