"""The list of a build's pairs for reviewers: searched, filtered, tagged, assigned and shared out."""
