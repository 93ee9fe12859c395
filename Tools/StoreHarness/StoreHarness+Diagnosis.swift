import Postgres

extension StoreHarness {
    /// Returns the progress of every service in a few lines, for a test that waited in vain.
    public func diagnosis() async -> String {
        var lines: [String] = []
        for service in StoreService.allCases {
            do {
                let facts = try await withDatabase(of: service) { connection in
                    try Self.questions(about: service).map { name, sql in
                        let rows = try connection.query("\(unsafe: sql)")
                        let answers = try rows.map { try $0.decode(String.self) }
                        return "    \(name): \(answers.joined(separator: ", "))"
                    }
                }
                lines.append("  \(service.rawValue):")
                lines += facts
            } catch {
                lines.append("  \(service.rawValue): cannot be asked: \(error)")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns SQL queries whose rows are one text each.
    private static func questions(about service: StoreService) -> [(String, String)] {
        let ofAll = [
            ("outbox", "SELECT count(*) || ' rows' FROM outbox"),
            (
                "not published",
                """
                SELECT type || ' ' || subject FROM outbox, relay_place c
                WHERE (outbox.xid, outbox.position) > (c.xid, c.position) LIMIT 20
                """
            ),
            (
                "relay",
                """
                SELECT 'epoch ' || epoch || ' at ' || xid || ':' || position || ', confirmed '
                    || confirmed_xid || ':' || confirmed_position FROM relay_place
                """
            ),
            (
                "consumed",
                """
                SELECT topic || '/' || partition || ' epoch ' || epoch || ' from ' || next_offset
                    FROM consumer_positions ORDER BY topic, partition
                """
            ),
            ("dead letters", "SELECT state || ' ' || type || ' ' || subject FROM dead_letters"),
            (
                "sessions",
                """
                SELECT application_name || ' ' || coalesce(state, '') || ' '
                    || coalesce(wait_event, '') FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                    AND (state <> 'idle' OR wait_event <> 'ClientRead')
                """
            ),
        ]
        return ofAll + particularQuestions(about: service)
    }

    private static func particularQuestions(about service: StoreService) -> [(String, String)] {
        switch service {
        case .payments:
            [
                ("states", "SELECT state || ' ' || count(*) FROM transactions GROUP BY state"),
                (
                    "attempts",
                    """
                    SELECT kind || ' ' || step || ' ' || count(*) FROM processor_attempts
                    GROUP BY kind, step
                    """
                ),
            ]
        case .fulfillment:
            [
                (
                    "queue",
                    """
                    SELECT state || (CASE WHEN is_delivered THEN ' delivered' ELSE '' END)
                        || (CASE WHEN finished_at IS NULL THEN '' ELSE ' finished' END) || ' '
                        || count(*)
                    FROM queue_transactions
                    GROUP BY state, is_delivered, finished_at IS NULL
                    """
                ),
                (
                    "deliveries",
                    """
                    SELECT kind || ' ' || state || ' ' || count(*) FROM deliveries
                    GROUP BY kind, state
                    """
                ),
            ]
        case .receipts:
            [("receipts", "SELECT count(*)::text FROM signed_transactions")]
        case .catalog:
            []
        }
    }
}
