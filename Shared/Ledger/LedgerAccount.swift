public import EventTypes

/// An account of the ledger.
///
/// The sign of an amount follows the same rule in all accounts: an account gives negative amounts
/// and receives positive ones. So a posting always sums to zero.
public enum LedgerAccount: Hashable, Sendable, CustomStringConvertible {
    /// A buyer, who gives the price of a purchase and receives a refund.
    case buyer(AccountID)
    /// The revenue of the store, without tax. Refunds do not lower it; they are posted to
    /// ``refunds``.
    case storeRevenue
    /// The tax contained in prices, owed to an authority.
    case taxPayable
    /// The refunds of the store, without tax: the contra account of ``storeRevenue``.
    case refunds
    /// Stray charges that have not been returned yet: charges that were confirmed after their
    /// transaction had failed.
    case processorClearing

    /// The name in the ledger's tables, such as `buyer:alice` and `store_revenue`.
    public var name: String {
        switch self {
        case .buyer(let account): "buyer:" + account.rawValue
        case .storeRevenue: "store_revenue"
        case .taxPayable: "tax_payable"
        case .refunds: "refunds"
        case .processorClearing: "processor_clearing"
        }
    }

    /// Parses a name written by ``name``.
    ///
    /// - Returns: `nil` if the string is not the name of an account.
    public init?(name: String) {
        switch name {
        case "store_revenue": self = .storeRevenue
        case "tax_payable": self = .taxPayable
        case "refunds": self = .refunds
        case "processor_clearing": self = .processorClearing
        default:
            guard name.hasPrefix("buyer:") else { return nil }
            self = .buyer(AccountID(unchecked: String(name.dropFirst("buyer:".count))))
        }
    }

    /// The account's name.
    public var description: String { name }
}
