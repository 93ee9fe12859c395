import EventTypes

/// Returns a purchased transaction as `payments` publishes it.
func purchased(
    _ number: Int64 = 2_000_000_000_001,
    originalNumber: Int64? = nil,
    reason: TransactionReason? = nil,
    version: Int = 2,
    state: TransactionState = .purchased,
    account: String = "alice",
    bundle: String = "com.example.app",
    type: ProductType = .consumable,
    quantity: Int = 3,
    storefront: String = "USA",
    price: Money = Money(minorUnits: 297, currency: Currency(unchecked: "USD")),
    applicationUsername: String? = nil,
    purchasedAt: StoreTime? = TestChain.now.advanced(by: .seconds(-5)),
    originalPurchasedAt: StoreTime? = nil,
    revokedAt: StoreTime? = nil,
    refunds: [Refund]? = nil
) -> Transaction {
    // A purchase that is revoked was refunded, unless a test says how.
    let refund = revokedAt.map {
        Refund(number: 1, amount: price, refundedAt: $0, revokes: true)
    }
    return Transaction(
        id: TransactionID(number: number),
        originalID: TransactionID(number: originalNumber ?? number),
        reason: reason
            ?? (state == .restored
                ? .restore : (originalNumber ?? number) == number ? .purchase : .ownedAgain),
        version: version,
        state: state,
        accountID: AccountID(unchecked: account),
        bundleID: BundleID(unchecked: bundle),
        productID: ProductID(unchecked: "coins.100"),
        productVersion: 1,
        productType: type,
        quantity: quantity,
        storefront: Storefront(unchecked: storefront),
        price: price,
        applicationUsername: applicationUsername,
        deliveryPlan: [.credit(unit: "coins", amount: 100)],
        requestedAt: TestChain.now.advanced(by: .seconds(-10)),
        purchasedAt: purchasedAt,
        originalPurchasedAt: originalPurchasedAt ?? purchasedAt,
        revokedAt: revokedAt,
        refunds: refunds ?? refund.map { [$0] }
    )
}

extension Refund {
    /// Returns a refund of a part of the price of ``purchased(_:)``, in cents.
    static func sample(
        _ number: Int,
        _ cents: Int64,
        revokes: Bool = false,
        isReversed: Bool = false
    ) -> Refund {
        Refund(
            number: number,
            amount: Money(minorUnits: cents, currency: Currency(unchecked: "USD")),
            refundedAt: TestChain.now.advanced(by: .seconds(-2)),
            revokes: revokes,
            reversedAt: isReversed ? TestChain.now.advanced(by: .seconds(-1)) : nil
        )
    }
}
