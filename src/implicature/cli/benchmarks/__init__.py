"""What `bench` measures: throughput, scaling, and others at the same work."""
