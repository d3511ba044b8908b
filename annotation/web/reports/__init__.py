"""One way in to all that is reported: comparisons, corpus statistics, rounds, audits and pins."""
