/// An object of another kind, which an answer holds as an id or, if it was expanded, as a whole.
package struct StripeReference: Hashable, Sendable, Decodable {
    /// The id.
    package let id: String

    private struct Whole: Decodable {
        let id: String
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let id = try? container.decode(String.self) {
            self.id = id
        } else {
            id = try container.decode(Whole.self).id
        }
    }
}

extension StripeSecret: Decodable {
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }
}
