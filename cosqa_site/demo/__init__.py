"""The demo: its accounts, the sample project, and the study that a visitor can rate in."""
