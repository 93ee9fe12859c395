public import EventTypes

/// An account of the money ledger, in an accountant's words.
///
/// Amounts are signed by one rule for all accounts: what an account gives is negative, what it
/// receives is positive. So a posting always sums to zero.
public enum LedgerAccount: Hashable, Sendable, CustomStringConvertible {
    /// A buyer; gives the price of a purchase, receives a refund.
    case buyer(AccountID)
    /// What the store earned, without tax. Refunds do not lower it; they stand in ``refunds``.
    case storeRevenue
    /// Tax that is contained in prices and owed to an authority.
    case taxPayable
    /// What the store gave back, without tax: the contra account of ``storeRevenue``.
    case refunds
    /// Money at the payment processor that nobody is entitled to yet: a charge that was confirmed
    /// after its transaction had failed, until it has been returned.
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

    /// Recognises a name written by ``name``.
    ///
    /// - Returns: `nil` if the string is no such name.
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
