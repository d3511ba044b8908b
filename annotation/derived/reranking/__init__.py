"""A language model as the second stage of a search: asked as agents are, through a build that pays."""
