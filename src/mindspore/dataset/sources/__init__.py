"""Sources of rows, one file for each family of data sets."""
