"""Plants small faults all over the program and counts those that no test notices."""
