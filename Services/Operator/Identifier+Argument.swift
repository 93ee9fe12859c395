public import ArgumentParser
public import EventTypes

// Identifiers on the command line: the argument parser reads them by their raw value, and an
// ill-formed one ends in its usage message.
extension AccountID: ExpressibleByArgument {}
extension BundleID: ExpressibleByArgument {}
extension LanguageTag: ExpressibleByArgument {}
extension ProductID: ExpressibleByArgument {}
extension Storefront: ExpressibleByArgument {}
extension TransactionID: ExpressibleByArgument {}
