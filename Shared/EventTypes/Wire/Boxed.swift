/// A member that most values lack, stored outside of its struct.
///
/// Each copy and each move of a struct touches all of its bytes: in arguments, and in arrays and
/// dictionaries as they grow and are sorted. With all members in place, a subscription has 1,670 bytes
/// and a transaction 825. With the large ones in boxes, which take eight bytes each, they have 601 and
/// 345.
///
/// Copies of the struct share the box. What is in it never changes, because a new value gets a box of
/// its own. So a copy that is changed leaves the others as they are.
///
/// The box shows nowhere else. Coders see the value, or no member if there is none.
@propertyWrapper
public struct Boxed<Value: Sendable>: Sendable {
    /// The place of a value.
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box?

    /// Stores a value; `nil` takes no memory.
    @inlinable
    public init(wrappedValue: Value?) {
        if let wrappedValue { box = Box(wrappedValue) } else { box = nil }
    }

    /// The value, if there is one.
    @inlinable
    public var wrappedValue: Value? {
        get { box?.value }
        set { self = Boxed(wrappedValue: newValue) }
    }
}

extension Boxed: Equatable where Value: Equatable {
    /// Compares the values; the same box needs no look into it.
    @inlinable
    public static func == (left: Self, right: Self) -> Bool {
        left.box === right.box || left.box?.value == right.box?.value
    }
}

extension Boxed: Hashable where Value: Hashable {
    /// Hashes the value.
    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension Boxed: CustomStringConvertible, CustomReflectable {
    /// The value as text, as if it stood in the struct.
    public var description: String { String(describing: wrappedValue) }

    /// The value's parts, as if it stood in the struct.
    public var customMirror: Mirror { Mirror(reflecting: wrappedValue as Any) }
}

extension Boxed: Encodable where Value: Encodable {
    /// Encodes the value, or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension Boxed: Decodable where Value: Decodable {
    /// Decodes a value, or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self.init(wrappedValue: nil)
        } else {
            self.init(wrappedValue: try container.decode(Value.self))
        }
    }
}

// The coders that the compiler writes for a struct call these for its boxed members. So a member
// without a value is left out, as an optional one is that has no box.

extension KeyedEncodingContainer {
    /// Encodes a boxed member, if it has a value.
    public mutating func encode<Value: Encodable & Sendable>(
        _ member: Boxed<Value>,
        forKey key: Key
    ) throws {
        try encodeIfPresent(member.wrappedValue, forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a boxed member, which may be missing or null.
    public func decode<Value: Decodable & Sendable>(
        _ type: Boxed<Value>.Type,
        forKey key: Key
    ) throws -> Boxed<Value> {
        Boxed(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}
