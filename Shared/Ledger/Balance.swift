public import EventTypes

/// What one account, or one group of accounts, holds in one currency.
public struct Balance: Hashable, Sendable {
    /// The account's name, or `buyer` for all buyers together.
    public let account: String
    /// The sum of its entries.
    public let amount: Money
    /// How many entries that is.
    public let entryCount: Int

    /// Makes a balance.
    public init(account: String, amount: Money, entryCount: Int) {
        self.account = account
        self.amount = amount
        self.entryCount = entryCount
    }
}

/// The proof of the books in one currency: all accounts, and their sum, which is zero.
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

    /// Whether all accounts together hold nothing, as they must.
    public var isBalanced: Bool {
        balances.reduce(Int128(0)) { $0 + Int128($1.amount.minorUnits) } == 0
    }
}
