// Whoever tests with a whole store needs the harness as well; one import brings both.
@_exported public import StoreHarness
