/// A JSON value of an answer.
indirect enum StandInJSON: Hashable, Sendable, Encodable {
    case null
    case bool(Bool)
    case number(Int64)
    case text(String)
    case list([StandInJSON])
    case object([String: StandInJSON])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// A text, or `null`.
    static func maybe(_ text: String?) -> StandInJSON { text.map { .text($0) } ?? .null }

    /// An object of texts.
    static func texts(_ texts: [String: String]) -> StandInJSON {
        .object(texts.mapValues { .text($0) })
    }

    /// The object's members with others added.
    func adding(_ members: [String: StandInJSON]) -> StandInJSON {
        guard case .object(let own) = self else { return self }
        return .object(own.merging(members) { $1 })
    }
}
