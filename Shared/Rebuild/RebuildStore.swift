import Messaging
import Postgres

/// The SQL that the rebuilds of all services share.
enum RebuildStore {
    /// Opens a cursor over one side of a table, in the order of its key.
    static func open(
        _ table: RebuiltTable,
        _ side: RebuiltTable.Side,
        on connection: isolated PostgresConnection
    ) throws {
        let query = table.query(side)
        try connection.execute("DECLARE compared NO SCROLL CURSOR FOR \(unsafe: query)")
    }

    /// Reads the next rows of the open cursor.
    static func page(
        on connection: isolated PostgresConnection
    ) throws -> [TableComparison.Row] {
        try connection.query("FETCH 5000 FROM compared").map { row in
            let (key, text) = try row.decode(String.self, String.self)
            return TableComparison.Row(key: key, text: text)
        }
    }

    /// Closes the cursor.
    static func close(on connection: isolated PostgresConnection) throws {
        try connection.execute("CLOSE compared")
    }

    /// Sets the time zone of a session, so that all sessions write times the same way.
    static func useUTC(on connection: isolated PostgresConnection) throws {
        try connection.execute("SET TIME ZONE 'UTC'")
    }

    /// Drops indexes of the tables that will be filled.
    static func drop(_ indexes: [String], on connection: isolated PostgresConnection) throws {
        for index in indexes {
            try connection.execute("DROP INDEX IF EXISTS \(unsafe: index)")
        }
    }

    /// Makes the tables of the shadow unlogged.
    ///
    /// PostgreSQL then does not write them to its write-ahead log. After a crash they are empty and
    /// can be filled again.
    ///
    /// Tables have to come after those that they refer to.
    static func makeUnlogged(
        _ tables: [RebuiltTable],
        on connection: isolated PostgresConnection
    ) throws {
        for table in tables.reversed() {
            try connection.execute("ALTER TABLE \(unsafe: table.name) SET UNLOGGED")
        }
    }

    /// Lets a session commit without waiting for the disk, since the shadow can be filled again.
    static func doNotWaitForDisk(on connection: isolated PostgresConnection) throws {
        try connection.execute("SET synchronous_commit = off")
    }
}
