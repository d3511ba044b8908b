"""Training of retrieval systems on a benchmark's matches.

`run` trains and writes a folder that `--encoder NAME:/folder` takes. `dual_encoders`, `losses`, `batches`,
`scores` and `loop` import torch: nothing else imports them before somebody trains.
"""
