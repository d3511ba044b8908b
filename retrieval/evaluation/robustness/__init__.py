"""Would the order of systems stand under other labels, encoders, versions and metrics?"""
