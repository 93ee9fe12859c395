/// A charge in the stand-in's books.
struct StandInCharge: Sendable {
    let id: String
    let created: Int64
    let payment: String
    let amount: Int64
    let currency: String
    let isPaid: Bool
    let metadata: [String: String]
    var refunded: Int64 = 0
    var isDisputed = false

    /// The object as the API shows it.
    var json: StandInJSON {
        .object([
            "id": .text(id), "object": .text("charge"), "created": .number(created),
            "payment_intent": .text(payment), "amount": .number(amount),
            "amount_refunded": .number(refunded), "currency": .text(currency),
            "paid": .bool(isPaid), "captured": .bool(isPaid), "disputed": .bool(isDisputed),
            "refunded": .bool(isPaid && refunded == amount), "livemode": .bool(false),
            "status": .text(isPaid ? "succeeded" : "failed"), "metadata": .texts(metadata),
        ])
    }
}
