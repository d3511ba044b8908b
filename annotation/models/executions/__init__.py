"""Test programs, their runs, runs asked for by the handful, and checks of the machines."""
