/// A payment in the stand-in's books.
struct StandInPayment: Sendable {
    enum Status: String, Sendable {
        case requiresPaymentMethod = "requires_payment_method"
        case requiresConfirmation = "requires_confirmation"
        case requiresAction = "requires_action"
        case processing
        case canceled
        case succeeded
    }

    let id: String
    let created: Int64
    var status: Status
    let amount: Int64
    let currency: String
    let customer: String?
    var paymentMethod: String?
    var metadata: [String: String]
    let returnURL: String?
    /// The newest charge, which succeeded or failed.
    var charge: StandInCharge?
    var lastError: StandInError?

    /// Whether no more than a look at it changes nothing: it can be confirmed or cancelled.
    var isOpen: Bool { status != .canceled && status != .succeeded }

    /// The object as the API shows it.
    func json(expandsCharge: Bool, pages: String) -> StandInJSON {
        var members: [String: StandInJSON] = [
            "id": .text(id), "object": .text("payment_intent"), "created": .number(created),
            "status": .text(status.rawValue), "amount": .number(amount),
            "amount_received": .number(status == .succeeded ? amount : 0),
            "currency": .text(currency), "customer": .maybe(customer),
            "payment_method": .maybe(paymentMethod), "metadata": .texts(metadata),
            "livemode": .bool(false), "client_secret": .text("\(id)_secret_standin"),
            "capture_method": .text("automatic"), "next_action": .null,
            "latest_charge": charge.map { expandsCharge ? $0.json : .text($0.id) } ?? .null,
            "last_payment_error": .null,
        ]
        if status == .requiresAction {
            members["next_action"] = .object([
                "type": .text("redirect_to_url"),
                "redirect_to_url": .object([
                    "url": .text("\(pages)/authenticate/\(id)"), "return_url": .maybe(returnURL),
                ]),
            ])
        }
        if let lastError, case .object(let body) = lastError.body, let error = body["error"] {
            members["last_payment_error"] = error
        }
        return .object(members)
    }
}
