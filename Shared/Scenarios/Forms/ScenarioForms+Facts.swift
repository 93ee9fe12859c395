/// The facts that an expectation may name.
extension ScenarioForms {
    /// The facts.
    static let expectation: [ScenarioForm.Field] = [
        .init(
            "device",
            .name,
            "The device whose queue is meant. The payment's own device if left out."
        ),
        .init(
            "queue",
            .named(.list(.choice(states))),
            "The states of each payment that the device has seen, in order."
        ),
        .init("restored", .list(.name), "The products that the device has restored."),
        .init(
            "unfinished",
            .named(.list(.text)),
            "The payments in each account's queue, in any order. One that no step makes is 'renewal of PRODUCT'."
        ),
        .init(
            "awaitsBuyer",
            .named(.list(.name)),
            "The payments of which each account's queue says that they await their buyer, in any order."
        ),
        .init("owns", .named(.list(.name)), "The products that each account owns."),
        .init(
            "entitlements",
            .named(.list(.name)),
            "The names of the entitlements that each account has."
        ),
        .init(
            "credits",
            .named(.named(.whole(-1_000_000_000...1_000_000_000))),
            "The balance of each account, by unit."
        ),
        .init("transaction", .named(.fields(transaction)), "What `payments` says of a payment."),
        .init("receipt", .named(.fields(receipt)), "What the store has signed for a payment."),
        .init(
            "subscription",
            .named(.fields(subscription)),
            "What the store says of the subscription that a payment belongs to."
        ),
        .init(
            "ledger",
            .named(.fields(ledger)),
            "The sum that each account of the ledger has received from a payment."
        ),
        .init(
            "notifications",
            .named(.list(.text)),
            "The types of the notifications about a payment, in order."
        ),
        .init(
            "webhooks",
            .named(.list(.text)),
            "The types of the webhooks about a payment, in order."
        ),
    ]

    private static let transaction: [ScenarioForm.Field] = [
        .init("state", .choice(states.dropLast()), "Its state."),
        .init("failure", .text, "Why it failed."),
        .init(
            "reason",
            .choice(["purchase", "restore", "ownedAgain"]),
            "Why there is a transaction."
        ),
        .init("price", .money, "The total price."),
        .init("refunded", .money, "What was refunded and not reversed."),
        .init("revoked", .flag, "Whether a refund has taken the product away."),
        .init("quantity", .whole(1...10), "The number of units."),
    ]

    private static let subscription: [ScenarioForm.Field] = [
        .init("state", .choice(subscriptionStates), "Its state."),
        .init("product", .name, "The product of its newest period."),
        .init("next", .name, "The product to which its next renewal changes."),
        .init("autoRenew", .flag, "Whether it renews at the end of its period."),
        .init("period", .whole(1...10_000), "The number of its newest period."),
        .init("price", .money, "The price that was charged for its newest period."),
        .init("offer", .name, "The offer of its newest period."),
        .init(
            "increase",
            .choice(["scheduled", "pending", "agreed", "declined", "notified"]),
            "The progress of a higher price."
        ),
        .init("paid", .whole(0...10_000), "The number of its periods that were paid."),
        .init("ends", .period, "The end of its newest period, counted from its start."),
        .init(
            "ownedUntil",
            .period,
            "The end of the account's entitlement, counted from the subscription's start."
        ),
    ]

    private static let receipt: [ScenarioForm.Field] = [
        .init("product", .name, "The product."),
        .init("type", .text, "The product's type in Apple's words."),
        .init("price", .money, "The total price."),
        .init("quantity", .whole(1...10), "The number of units."),
        .init("storefront", .storefront, "The region of the sale."),
        .init("revoked", .flag, "Whether a refund has taken the product away."),
    ]

    private static let ledger: [ScenarioForm.Field] = [
        .init("buyer", .money, "What the buyer has received; a price is negative."),
        .init("store_revenue", .money, "The store's revenue without tax."),
        .init("tax_payable", .money, "The tax."),
        .init("refunds", .money, "What the store has refunded without tax; it is negative."),
        .init(
            "chargebacks",
            .money,
            "What buyers' banks have taken back without tax; it is negative."
        ),
        .init("processor_clearing", .money, "Stray charges that are not returned yet."),
    ]
}
