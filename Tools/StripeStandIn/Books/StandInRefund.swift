/// A refund in the stand-in's books.
struct StandInRefund: Sendable {
    let id: String
    let created: Int64
    let payment: String
    let charge: String
    let amount: Int64
    let currency: String
    let metadata: [String: String]
    /// `pending`, `succeeded` or `failed`.
    var status: String

    /// The object as the API shows it.
    var json: StandInJSON {
        var members: [String: StandInJSON] = [
            "id": .text(id), "object": .text("refund"), "created": .number(created),
            "payment_intent": .text(payment), "charge": .text(charge), "amount": .number(amount),
            "currency": .text(currency), "status": .text(status), "metadata": .texts(metadata),
        ]
        if status == "failed" { members["failure_reason"] = .text("lost_or_stolen_card") }
        return .object(members)
    }
}
