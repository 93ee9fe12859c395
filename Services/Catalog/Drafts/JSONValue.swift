import ServiceKit

/// Any JSON document, decoded without a schema so that all its problems can be reported at once.
enum JSONValue: Decodable, Hashable, Sendable {
    case null
    case bool(Bool)
    /// A whole number of 64 bits.
    case integer(Int64)
    /// Any other number.
    case fraction
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        // The kinds are tried in the order of their frequency in a catalog, so an error only says
        // that the value is of another kind.
        let single = try decoder.singleValueContainer()
        if let string = try? single.decode(String.self) {
            self = .string(string)
        } else if let members = try? decoder.container(keyedBy: MemberName.self) {
            var object: [String: JSONValue] = [:]
            for name in members.allKeys {
                object[name.stringValue] = try members.decode(JSONValue.self, forKey: name)
            }
            self = .object(object)
        } else if single.decodeNil() {
            self = .null
        } else if let bool = try? single.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? single.decode(Int64.self) {
            self = .integer(integer)
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [JSONValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(JSONValue.self)) }
            self = .array(array)
        } else {
            self = .fraction
        }
    }

    /// The kind of the value, in the words of an error message.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer: "a whole number"
        case .fraction: "a fraction or too large a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
