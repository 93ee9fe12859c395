/// The parameters of a request, encoded as Stripe's API reads them.
///
/// Members of a value have the value's name before them: `metadata[attempt]=…`. Elements of a list
/// have their index: `expand[0]=…`. The order is the order of the calls, so equal requests have
/// equal bytes, which an idempotency key demands.
package struct FormParameters: Hashable, Sendable {
    /// The names and values, not yet escaped.
    package private(set) var pairs: [Pair] = []

    /// A name and its value.
    package struct Pair: Hashable, Sendable {
        /// The name with all its brackets.
        package let name: String
        /// The value.
        package let value: String
    }

    /// Makes an empty list.
    package init() {}

    /// Adds a text, unless it is `nil`.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append(Pair(name: name, value: value)) }
    }

    /// Adds a whole number, unless it is `nil`.
    package mutating func add(_ name: String, _ value: Int64?) {
        add(name, value.map { String($0) })
    }

    /// Adds `true` or `false`.
    package mutating func add(_ name: String, _ value: Bool) {
        add(name, value ? "true" : "false")
    }

    /// Adds the members of a value, sorted by name.
    package mutating func add(_ name: String, _ members: [String: String]) {
        for (member, value) in members.sorted(by: { $0.key < $1.key }) {
            add("\(name)[\(member)]", value)
        }
    }

    /// Adds the elements of a list.
    package mutating func add(_ name: String, _ elements: [String]) {
        for (index, element) in elements.enumerated() { add("\(name)[\(index)]", element) }
    }

    /// The parameters in `application/x-www-form-urlencoded`.
    package var encoded: String {
        pairs.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }.joined(separator: "&")
    }

    /// Escapes everything but the unreserved characters of RFC 3986.
    private static func escaped(_ text: String) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
