"""The job, its result, borders, weights, statistics and timing: what every room may use."""
