/// A statement with its parameters.
///
/// An interpolated value becomes a parameter (`$1`, `$2`, …) in binary form and never part of the
/// text, so no value can change the meaning of the statement:
///
/// ```swift
/// let sql: SQL = "SELECT name FROM products WHERE id = \(id) AND tags && \(tags)"
/// ```
///
/// A text interpolated with `\(unsafe:)` is inserted unchanged; use it only for names that the
/// program itself wrote.
public struct SQL: ExpressibleByStringInterpolation, Sendable {
    /// The position of a parameter in the buffer; a negative count means NULL.
    struct Parameter: Sendable {
        let offset: Int
        let count: Int
    }

    /// The text, with `$n` in place of each parameter.
    public let text: String
    /// The type of each parameter.
    let types: [UInt32]
    let parameters: [Parameter]
    /// The binary forms of all parameters, one after another.
    let buffer: [UInt8]

    /// Makes a statement without parameters.
    public init(stringLiteral value: String) {
        text = value
        types = []
        parameters = []
        buffer = []
    }

    /// Makes a statement from an interpolated string.
    public init(stringInterpolation interpolation: StringInterpolation) {
        text = interpolation.text
        types = interpolation.types
        parameters = interpolation.parameters
        buffer = interpolation.buffer
    }

    /// Collects the text and the parameters of an interpolated string.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var types: [UInt32] = []
        fileprivate var parameters: [Parameter] = []
        @usableFromInline var buffer: [UInt8] = []

        /// Reserves capacity.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 3)
            types.reserveCapacity(interpolationCount)
            parameters.reserveCapacity(interpolationCount)
            // The buffer begins with one byte, so that even an empty value has an address.
            buffer.reserveCapacity(1 + interpolationCount * 16)
            buffer.append(0)
        }

        /// Appends text of the statement.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Appends a parameter.
        ///
        /// It is inlinable, as all that encodes values, so that services encode the arrays of a
        /// batch with code for their element types.
        @inlinable
        public mutating func appendInterpolation<T: PostgresEncodable>(_ value: T) {
            let offset = buffer.count
            let isNull = value.isPostgresNull
            if !isNull { value.encode(into: &buffer) }
            add(T.postgresType, from: offset, isNull: isNull)
        }

        /// Adds the parameter whose value begins at an offset of the buffer.
        @usableFromInline
        mutating func add(_ type: PostgresType, from offset: Int, isNull: Bool) {
            types.append(type.oid)
            parameters.append(
                isNull
                    ? Parameter(offset: 0, count: -1)
                    : Parameter(offset: offset, count: buffer.count - offset)
            )
            text += "$"
            text += String(types.count)
        }

        /// Appends an array for an `unnest` with others, without the NULLs at its end.
        ///
        /// PostgreSQL fills up the columns of such an `unnest` with NULLs. So a column that is NULL
        /// in every row costs next to nothing. Another array of the same `unnest` must have all its
        /// elements.
        @inlinable
        public mutating func appendInterpolation<T: PostgresEncodable>(padded values: [T?]) {
            let last = values.lastIndex { !$0.isPostgresNull }
            appendInterpolation(Array(values.prefix((last ?? -1) + 1)))
        }

        /// Appends an array for an `unnest` with others, or an empty one if all its elements are equal.
        ///
        /// PostgreSQL fills up the empty column with NULLs, and `coalesce(column, \(ifEqual: values))`
        /// puts the value in their place. So a column with one value costs next to nothing. Another
        /// array of the same `unnest` must have all its elements.
        @inlinable
        public mutating func appendInterpolation<T: PostgresEncodable & Equatable>(
            unlessEqual values: [T]
        ) {
            appendInterpolation(Self.areEqual(values) ? [] : values)
        }

        /// Appends the value of all elements of an array, or NULL if they differ.
        @inlinable
        public mutating func appendInterpolation<T: PostgresEncodable & Equatable>(
            ifEqual values: [T]
        ) {
            appendInterpolation(Self.areEqual(values) ? values.first : nil)
        }

        @inlinable
        static func areEqual<T: Equatable>(_ values: [T]) -> Bool {
            values.allSatisfy { $0 == values[0] }
        }

        /// Inserts a text unchanged.
        ///
        /// It must not come from outside the program.
        public mutating func appendInterpolation(unsafe text: String) {
            self.text += text
        }
    }

    /// A name in double quotes, to be inserted into a statement; a dot separates the schema.
    static func quoted(_ name: String) -> String {
        name.split(separator: ".", omittingEmptySubsequences: false)
            .map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }
            .joined(separator: ".")
    }
}
