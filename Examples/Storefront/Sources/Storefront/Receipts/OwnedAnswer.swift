/// The products of a buyer, as the page hears of them.
struct OwnedAnswer: Sendable, Encodable, Equatable {
    /// The number of products whose receipts are verified for one answer, the newest first.
    ///
    /// The receipts of older ones are verified when the buyer opens them.
    static let verifiedMax = 50

    /// The products, the newest first.
    private(set) var products: [OwnedProduct]
    /// The buyer's balance of each unit.
    let balances: [String: Int64]
    /// Whether the buyer owns older products, which are not in the answer.
    let isCut: Bool

    /// Makes an answer of the store's newest page of entitlements.
    ///
    /// - Parameters:
    ///   - entitlements: The products, in the order of the purchases.
    ///   - isCut: Whether the store has older ones.
    ///   - balances: The buyer's balances.
    init(of entitlements: [OwnedProduct], isCut: Bool, balances: [String: Int64]) {
        self.balances = balances
        self.isCut = isCut
        products = entitlements.reversed()
        for index in products.indices {
            products[index].isTried = index < Self.verifiedMax
        }
    }

    /// The transactions whose receipts are to be verified.
    var tried: Set<String> {
        Set(products.prefix(Self.verifiedMax).map(\.originalTransactionID))
    }

    /// Takes verdicts, by transaction.
    ///
    /// A receipt without one could not be fetched.
    mutating func take(_ verdicts: [String: ReceiptVerdict]) {
        for index in products.indices {
            guard let verdict = verdicts[products[index].originalTransactionID] else { continue }
            products[index].isTried = true
            products[index].isVerified = verdict.isVerified
            products[index].refusal = verdict.refusal
        }
    }
}
