/// A part of a list, newest first.
package struct StripePage<Element: Decodable & Sendable>: Decodable, Sendable {
    /// The elements.
    package var data: [Element]
    /// Whether older elements follow.
    package var hasMore: Bool

    enum CodingKeys: String, CodingKey {
        case data
        case hasMore = "has_more"
    }
}
