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
    /// The purchases that buyers' banks took back, without tax: a contra account of
    /// ``storeRevenue``, as ``refunds`` is.
    case chargebacks
    /// The payments of buyers at the processor, less what went back to them: the other side of the
    /// processor's own movements.
    case processorPayments
    /// The store's money at the processor.
    case processorBalance
    /// The money that the processor has kept for its work.
    case processorFees
    /// The store's bank account, to which the processor pays out.
    case bank
    /// Movements at the processor that a person has to explain.
    case processorOther

    /// The name in the ledger's tables, such as `buyer:alice` and `store_revenue`.
    public var name: String {
        switch self {
        case .buyer(let account): "buyer:" + account.rawValue
        case .storeRevenue: "store_revenue"
        case .taxPayable: "tax_payable"
        case .refunds: "refunds"
        case .processorClearing: "processor_clearing"
        case .chargebacks: "chargebacks"
        case .processorPayments: "processor_payments"
        case .processorBalance: "processor_balance"
        case .processorFees: "processor_fees"
        case .bank: "bank"
        case .processorOther: "processor_other"
        }
    }

    /// The account's name.
    public var description: String { name }
}
