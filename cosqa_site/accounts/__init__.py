"""Logging in and out, passwords, single sign-on."""
