"""The filter language (`role:assistant latency>2s -is:hidden "words"`): its fields, grammar, and predicate.

A filter is evaluated only on the messages of a projection. The check that an audience may
use it depends only on the filter, and comes before anything is read."""
