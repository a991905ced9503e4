"""Benchmarks beside other libraries, for ``latopo bench --peers benchmarks/peers``; they come with ``latopo[dev]``."""
