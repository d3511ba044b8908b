"""Ground-truth studies: plan, sample, hand out, rate, adjudicate, measure.

Nothing here writes a Review or a Label, and nothing that a blind rater sees is read from a case.
"""
