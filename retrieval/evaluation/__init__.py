"""How well systems answer queries: files against files, and systems against benchmarks.

`files` needs no database. `publishing` makes a benchmark of labels, `content` reads one, `systems` searches
it, `run_files` reads somebody else's ranked lists, `scoring` measures, `running` stores what came
out, `leaderboard` lays runs side by side.
"""
