"""`python -m bayplan` is `bayplan`."""

from bayplan.cli import main

main()
