"""How well systems answer queries: files against files, and systems against benchmarks.

`files` needs no database. `publication` makes a benchmark of labels, `content` reads one, `systems` searches
it, `run_files` reads somebody else's ranked lists, whose names `run_names` knows, `query_scores` measures,
`system_run` stores what came out, `leaderboard` lays runs side by side. `runs.jobs` and
`runs.score_jobs` do that for pages.
"""
