"""One module a command; each has the click command as `command`. Heavy imports go into the function."""
