"""The filter language (`role:assistant latency>2s -is:hidden "words"`): its fields, grammar, and predicate.

A filter is evaluated only on the messages of a projection. Whether an audience may use it depends only on the filter,
and is decided before anything is read."""
