extension StandInServer {
    /// Does what a control route asks for.
    ///
    /// - Throws: ``StandInError`` if it cannot be done.
    func control(_ what: String, _ form: StandInForm) throws {
        switch what {
        case "faults":
            try form.check(["kind", "path", "method", "count", "milliseconds"])
            let kind = StandInFault.kind(
                named: try form.required("kind"),
                milliseconds: try form.number("milliseconds") ?? 1000
            )
            guard let kind else { throw StandInError.invalid("There is no such fault.", "kind") }
            inject(
                StandInFault(
                    kind,
                    path: form["path"] ?? "/v1/",
                    method: form["method"],
                    count: Int(try form.number("count") ?? 1)
                )
            )
        case "payments":
            try form.check(["id", "outcome"])
            let outcome = try form.choice("outcome", of: ["succeeded", "failed"])
            try end(payment: try form.required("id"), succeeds: outcome != "failed")
        case "refunds":
            try form.check(["id", "outcome"])
            let outcome = try form.choice("outcome", of: ["succeeded", "failed"])
            try end(refund: try form.required("id"), succeeds: outcome != "failed")
        case "disputes":
            try form.check(["id", "outcome"])
            let id = try form.required("id")
            switch try form.choice("outcome", of: ["inquiry", "won", "lost"]) {
            case "won": try endDispute(of: id, isWon: true)
            case "lost": try endDispute(of: id, isWon: false)
            case let outcome: try dispute(payment: id, isInquiry: outcome == "inquiry")
            }
        case "balance": tellBalance()
        case "payouts": try payOut(try form.required("currency"))
        default: throw StandInError.invalid("There is no control named \(what).")
        }
    }

    /// The entries for an audit, as JSON.
    var entriesJSON: StandInJSON {
        .object([
            "entries": .list(
                entries.map { entry in
                    .object([
                        "attempt": .text(entry.attempt), "kind": .text(entry.kind),
                        "amount": .number(entry.amount), "currency": .text(entry.currency),
                    ])
                }
            )
        ])
    }
}

extension StandInError {
    /// Whether the work had begun, so that the answer is kept under the key.
    ///
    /// A request that was refused for its parameters has begun nothing.
    var isOfBegunWork: Bool {
        guard status != 402 else { return true }
        guard status != 404 else { return false }
        guard let code else { return true }
        let isOfParameter = code.hasPrefix("parameter_") || code.hasSuffix("_no_longer_supported")
        return !isOfParameter && code != "resource_missing"
    }
}
