public import EventTypes

/// The balances of all accounts in one currency; their sum has to be zero.
public struct TrialBalance: Hashable, Sendable {
    /// The currency.
    public let currency: Currency
    /// The accounts, by name; buyers are one group.
    public let balances: [Balance]

    /// Makes a trial balance.
    public init(currency: Currency, balances: [Balance]) {
        self.currency = currency
        self.balances = balances
    }

    /// Whether all balances sum to zero, as they must.
    public var isBalanced: Bool {
        balances.reduce(Int128(0)) { $0 + Int128($1.amount.minorUnits) } == 0
    }
}

/// The balance of one account, or of one group of accounts, in one currency.
public struct Balance: Hashable, Sendable {
    /// The account's name, or `buyer` for all buyers together.
    public let account: String
    /// The sum of its entries.
    public let amount: Money
    /// The number of its entries.
    public let entryCount: Int

    /// Makes a balance.
    public init(account: String, amount: Money, entryCount: Int) {
        self.account = account
        self.amount = amount
        self.entryCount = entryCount
    }
}
