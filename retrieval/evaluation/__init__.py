"""How well systems answer queries: files against files, and systems against benchmarks.

`files` needs no database. `publishing` makes a benchmark of labels, `content` reads one, `systems` searches
it, `run_files` reads somebody else's ranked lists, whose names `run_names` knows, `scoring` measures,
`running` stores what came out, `leaderboard` lays runs side by side. `run_jobs` and
`score_jobs` do that for pages.
"""
