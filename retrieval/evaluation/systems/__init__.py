"""Systems by name: those that search here, those that papers know, and how names are read."""
