"""What benches measure with: clocks, memory, processor shares, and scratch databases."""
