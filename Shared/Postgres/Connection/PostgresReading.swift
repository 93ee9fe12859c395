/// A query, and how its rows are read.
///
/// In a database transaction several of them take one round trip, with
/// `read(…)`.
public struct PostgresReading<Value> {
    let sql: SQL?
    let value: (PostgresRows?) throws -> Value

    /// Makes a query.
    ///
    /// - Parameters:
    ///   - sql: The query.
    ///   - value: Reads its rows.
    public init(_ sql: SQL, value: @escaping (PostgresRows) throws -> Value) {
        self.sql = sql
        self.value = { rows in
            guard let rows else { throw PostgresError(.decoding, "there is no answer") }
            return try value(rows)
        }
    }

    /// Makes a value that is known without a query.
    public init(known value: Value) {
        sql = nil
        self.value = { _ in value }
    }
}

extension PostgresConnection {
    /// Runs a query and reads its rows.
    public func read<Value>(_ reading: PostgresReading<Value>) throws -> Value {
        try reading.value(reading.sql.map { try query($0) })
    }

    /// Runs queries one after another, in one round trip, and reads the rows of each.
    ///
    /// In a database transaction of isolation level READ COMMITTED, each query sees what was
    /// committed when it began, as if it was sent alone. Outside a database transaction each takes
    /// a round trip.
    public func read<each Value>(
        _ readings: repeat PostgresReading<each Value>
    ) throws -> (repeat each Value) {
        var statements: [SQL] = []
        for reading in repeat each readings {
            if let sql = reading.sql { statements.append(sql) }
        }
        var answers = try queries(statements)[...]
        return (repeat try next(each readings, &answers))
    }

    private func next<Value>(
        _ reading: PostgresReading<Value>,
        _ answers: inout ArraySlice<PostgresRows>
    ) throws -> Value {
        try reading.value(reading.sql == nil ? nil : answers.popFirst())
    }
}
