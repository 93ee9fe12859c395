public import Postgres

extension TestDatabase {
    /// Compares the columns of a database with those that a rebuild compares.
    ///
    /// - Parameters:
    ///   - migrations: The migrations of the service.
    ///   - spine: The migrations of tables that every service has, which are no part of its books.
    ///   - compared: The compared columns by table.
    ///   - leftOut: What a rebuild leaves out, with the reason: `table`, or `table.column column`.
    /// - Returns: What is neither compared nor left out, and what is left out but not there.
    /// - Throws: `PostgresError`.
    public static func unexplainedColumns(
        of migrations: [PostgresMigration],
        without spine: [PostgresMigration],
        compared: [String: Set<String>],
        leftOut: [String: String]
    ) async throws -> [String] {
        let common = Set(try await columns(of: spine).keys)
        let tables = try await columns(of: migrations).filter { !common.contains($0.key) }
        var open = tables.mapValues(\.self)
        for (table, columns) in compared { open[table]?.subtract(columns) }
        var problems: [String] = []
        for entry in leftOut.keys {
            let parts = entry.split(separator: ".").map(String.init)
            let table = parts[0]
            let columns =
                parts.count > 1 ? Set(parts[1].split(separator: " ").map(String.init)) : nil
            let there = open[table] ?? []
            for column in (columns ?? []).subtracting(there) {
                problems.append("\(table).\(column) is left out, and is compared or not there")
            }
            if columns == nil, there.isEmpty { problems.append("\(table) is left out for nothing") }
            open[table]?.subtract(columns ?? there)
        }
        for (table, columns) in open {
            problems += columns.map { "\(table).\($0) is neither compared nor left out" }
        }
        for table in compared.keys where tables[table] == nil {
            problems.append("\(table) is compared and not there")
        }
        return problems.sorted()
    }

    /// The columns of the tables that migrations make, partitions left away.
    private static func columns(
        of migrations: [PostgresMigration]
    ) async throws -> [String: Set<String>] {
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient { client in
                try await client.withConnection { connection in
                    let rows = try connection.query(
                        """
                        SELECT relname::text, attname::text FROM pg_attribute
                        JOIN pg_class ON pg_class.oid = attrelid
                        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                            AND NOT relispartition AND attnum > 0 AND NOT attisdropped
                        """
                    )
                    var tables: [String: Set<String>] = [:]
                    for row in rows {
                        let (table, column) = try row.decode(String.self, String.self)
                        tables[table, default: []].insert(column)
                    }
                    return tables
                }
            }
        }
    }
}
