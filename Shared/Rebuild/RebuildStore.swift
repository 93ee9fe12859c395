import Messaging
import Postgres

/// The SQL of a rebuild that is no service's own.
enum RebuildStore {
    /// Begins to read a side of a table, in the order of its key.
    static func open(
        _ table: RebuiltTable,
        _ side: RebuiltTable.Side,
        on connection: isolated PostgresConnection
    ) throws {
        let query = table.query(side)
        try connection.execute("DECLARE compared NO SCROLL CURSOR FOR \(unsafe: query)")
    }

    /// Reads the next rows of what was begun.
    static func page(
        on connection: isolated PostgresConnection
    ) throws -> [TableComparison.Row] {
        try connection.query("FETCH 5000 FROM compared").map { row in
            let (key, text) = try row.decode(String.self, String.self)
            return TableComparison.Row(key: key, text: text)
        }
    }

    /// Ends reading.
    static func close(on connection: isolated PostgresConnection) throws {
        try connection.execute("CLOSE compared")
    }

    /// Makes a session write times as every other does.
    static func useUTC(on connection: isolated PostgresConnection) throws {
        try connection.execute("SET TIME ZONE 'UTC'")
    }

    /// Drops indexes of the tables that are filled.
    static func drop(_ indexes: [String], on connection: isolated PostgresConnection) throws {
        for index in indexes {
            try connection.execute("DROP INDEX IF EXISTS \(unsafe: index)")
        }
    }

    /// Keeps tables that are about to be filled out of PostgreSQL's log: after a crash they are empty,
    /// and filled again.
    ///
    /// Those that refer to others come after them.
    static func makeUnlogged(
        _ tables: [RebuiltTable],
        on connection: isolated PostgresConnection
    ) throws {
        for table in tables.reversed() {
            try connection.execute("ALTER TABLE \(unsafe: table.name) SET UNLOGGED")
        }
    }

    /// Makes a session not wait for the disk; what it fills can be filled again.
    static func doNotWaitForDisk(on connection: isolated PostgresConnection) throws {
        try connection.execute("SET synchronous_commit = off")
    }
}
