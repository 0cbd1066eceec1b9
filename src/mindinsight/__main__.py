"""`python -m mindinsight`."""

from mindinsight.cli import main

main()
