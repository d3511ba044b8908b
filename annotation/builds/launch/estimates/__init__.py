"""What a build will take, before it is launched: calls, tokens and dollars, low, expected and high.

`estimate` puts the figures together from `tokens` (prompts filled with real pairs, counted) and `experience`
(what earlier builds measured, or what is assumed); `confirmation` carries them from the page that showed them
to the build that was launched on them.
"""
