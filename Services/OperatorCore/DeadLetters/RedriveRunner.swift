package import EventTypes
import Messaging
import Postgres

/// Asks services to apply dead and parked events again, and waits for what becomes of them.
package struct RedriveRunner: Sendable {
    private let databases: DatabaseAddresses

    /// Makes a runner.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// Asks one service to redrive a key, or all of its keys.
    ///
    /// All keys are asked for in pages, each in a database transaction of its own, so that the
    /// service can go on meanwhile.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - key: The key; `nil` for all that have open events.
    ///   - pageMax: The most keys of a page.
    ///   - act: Who asks, and why.
    /// - Returns: The redrives that were asked for; none if nothing is open.
    /// - Throws: ``OperatorError``.
    package func ask(
        _ service: OperatedService,
        key: String?,
        pageMax: Int = 500,
        by act: Act
    ) async throws -> [Redrive] {
        let address = databases.address(of: service)
        if let key {
            return try await DatabaseReader.change(address) { connection in
                try Self.ask(service, [key], by: act, on: connection)
            }
        }
        var redrives: [Redrive] = []
        var last = ""
        while true {
            let (keys, asked) = try await DatabaseReader.change(address) { [last] connection in
                let keys = try DeadLetterStore.openKeys(after: last, limit: pageMax, on: connection)
                return (keys, try Self.ask(service, keys, by: act, on: connection))
            }
            redrives += asked
            guard keys.count == pageMax, let end = keys.last else { return redrives }
            last = end
        }
    }

    private static func ask(
        _ service: OperatedService,
        _ keys: [String],
        by act: Act,
        on connection: isolated PostgresConnection
    ) throws -> [Redrive] {
        try keys.compactMap { key in
            let count = try DeadLetters.requestRedrive(
                key: key,
                consumer: service.rawValue,
                by: act,
                on: connection
            )
            return count > 0 ? Redrive(service: service, key: key, asked: count) : nil
        }
    }

    /// Waits until the service has applied the events or refused the request.
    package func follow(
        _ redrive: inout Redrive,
        until deadline: ContinuousClock.Instant
    ) async throws {
        let key = redrive.key
        redrive = try await DatabaseReader.withSession(databases.address(of: redrive.service)) {
            [redrive] connection in
            var redrive = redrive
            while true {
                let (requested, open, first) = try await connection.run { connection in
                    let counts = try DeadLetterStore.open(key: key, on: connection)
                    let first = try DeadLetterStore.letters(
                        .init(key: key, limit: 1),
                        on: connection
                    ).first
                    return (counts.requested, counts.all, first)
                }
                redrive.isWaiting = requested > 0
                redrive.open = open
                redrive.applied = max(0, redrive.asked - open)
                redrive.reason = first?.reason
                if !redrive.isWaiting || ContinuousClock.now >= deadline { return redrive }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
