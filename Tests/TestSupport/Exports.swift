// Tests with a complete store also need the harness. One import provides both.
@_exported public import StoreHarness
