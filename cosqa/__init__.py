"""CoSQA Workbench for people who type or write notebooks; `cosqa --help` lists the verbs.

Importing this package loads neither Django nor the packages of the application.
"""
