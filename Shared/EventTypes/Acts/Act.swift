/// A person's decision that changed the books: who decided, and why.
///
/// Only the store and its administrators see it. No answer to a buyer has it, and no receipt.
public struct Act: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The administrator who decided.
    public var decidedBy: AdministratorName
    /// The reason in their own words; `nil` if they gave none.
    public var reason: ActReason?
    /// Makes an act.
    public init(decidedBy: AdministratorName, reason: ActReason? = nil) {
        self.decidedBy = decidedBy
        self.reason = reason
    }

    /// The act in words: `by mia: damaged`.
    public var description: String {
        "by \(decidedBy)" + (reason.map { ": \($0)" } ?? "")
    }
}

extension Act {
    func write(to text: inout PlainJSONText) {
        text.member("decidedBy", decidedBy.rawValue)
        text.member("reason", reason?.rawValue)
    }

    init?(from json: inout PlainJSON) {
        var decidedBy: AdministratorName?
        var reason: ActReason?
        let isRead = json.object { json, name in
            switch name {
            case "decidedBy": PlainJSON.keep(json.identifier(), in: &decidedBy)
            case "reason":
                json.null()
                    || PlainJSON.keep(
                        json.string().flatMap(ActReason.init(rawValue:)),
                        in: &reason
                    )
            default: json.skip()
            }
        }
        guard isRead, let decidedBy else { return nil }
        self.init(decidedBy: decidedBy, reason: reason)
    }
}
