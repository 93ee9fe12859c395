/// The requests for refunds that a page lists.
struct RefundRequestQuery: Hashable, Sendable {
    /// The choices, with the words for them.
    static let choices: [(state: String, words: String)] = [
        ("open", "open"), ("failed", "approved, refund failed"), ("approved", "approved"),
        ("declined", "declined"), ("all", "all"),
    ]

    /// The choice.
    var state = "open"
    /// The end of the page before; `nil` for the first page.
    var after: String?

    /// Reads the query of an address; without one, the open requests are listed.
    ///
    /// - Throws: ``ConsoleProblem`` for a state that is none of the choices.
    init(_ fields: FormFields? = nil) throws(ConsoleProblem) {
        after = fields?["after"]
        guard let text = fields?["state"], !text.isEmpty else { return }
        guard Self.choices.contains(where: { $0.state == text }) else {
            throw ConsoleProblem(400, "There is no such state", "Choose one from the list.")
        }
        state = text
    }

    /// The parameters for the service.
    var parameters: [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        if state != "all" { parameters.append(("state", state)) }
        if let after { parameters.append(("after", after)) }
        return parameters
    }
}
