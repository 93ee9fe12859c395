import Logging
import Postgres
import Seals

extension RelayLeadership {
    /// Seals a batch of the rows that an older relay, which had no seals, has published.
    ///
    /// - Returns: Whether there were such rows.
    func sealEarlierRows(
        _ heads: inout SealHeads,
        through published: LogPlace
    ) async throws -> Bool {
        let sealed = heads.sealed
        guard sealed < published else { return false }
        let rows = try await client.withConnection { connection in
            try EventLog.rows(after: sealed, limit: LogSeal.rowsMax, on: connection)
        }.filter { $0.place <= published }
        guard !rows.isEmpty else {
            logger.warning(
                "Rows that were published are not in the outbox",
                metadata: ["outbox.after": "\(sealed)", "outbox.published": "\(published)"]
            )
            heads.skip(to: published)
            return false
        }
        let seals = heads.seal(SealedRow.sealing(rows))
        try await client.withConnection { connection in
            try SealStore.insert(seals, log: SealedLog.outboxName, on: connection)
        }
        return true
    }
}
