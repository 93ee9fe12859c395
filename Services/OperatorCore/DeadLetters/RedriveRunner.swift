package import EventTypes
import Messaging

/// Asks services to apply dead and parked events again, and waits for what becomes of them.
package struct RedriveRunner: Sendable {
    private let databases: DatabaseAddresses

    /// Makes a runner.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// Asks one service to redrive a key, or all of its keys.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - key: The key; `nil` for all that have open events.
    ///   - act: Who asks, and why.
    /// - Returns: The redrives that were asked for; none if nothing is open.
    /// - Throws: ``OperatorError``.
    package func ask(
        _ service: OperatedService,
        key: String?,
        by act: Act
    ) async throws -> [Redrive] {
        try await DatabaseReader.change(databases.address(of: service)) { connection in
            let keys = try key.map { [$0] } ?? DeadLetterStore.openKeys(on: connection)
            return try keys.compactMap { key in
                let count = try DeadLetters.requestRedrive(
                    key: key,
                    consumer: service.rawValue,
                    by: act,
                    on: connection
                )
                return count > 0 ? Redrive(service: service, key: key, asked: count) : nil
            }
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
