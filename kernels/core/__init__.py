"""What every room may use: the job, what came of it, borders, weights, statistics, timing."""
