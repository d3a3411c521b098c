"""What `make bench` measures. Ratios within one run hold; absolute figures belong to a machine and a day."""
