"""The filter language: `role:assistant latency>2s -is:hidden "words"`; its fields, its grammar, and the predicate.

A filter is evaluated on the messages of a projection and on nothing else. Whether an audience may use it depends on the
filter alone, and is decided before anything is read."""
