import Foundation
import Postgres
import StoreHarness
import StripeStandIn

/// Starts and ends the faults of strikes in a store.
struct FaultInjector: Sendable {
    let store: StoreHarness

    /// Begins a fault, waits for its duration, and ends it, even if the task is cancelled.
    ///
    /// - Parameter strike: The fault.
    /// - Returns: A note about the fault, if there is one.
    /// - Throws: ``HarnessError`` if the fault cannot be started or ended.
    func carryOut(_ strike: Strike) async throws -> String? {
        let begun = try await begin(strike)
        do {
            try await Task.sleep(for: strike.length)
        } catch {
            _ = try await end(strike)
            throw error
        }
        let ended = try await end(strike)
        let notes = [begun, ended].compactMap { $0 }
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    private func begin(_ strike: Strike) async throws -> String? {
        switch (strike.fault, strike.target) {
        case (.kill(let beforeCommit), .process(let name)):
            if beforeCommit {
                return try await killBeforeCommit(try process(name))
            }
            try await process(name).kill()
        case (.kill, .broker(let node)):
            await store.broker.kill(node: node)
        case (.kill, .postgres):
            try store.cluster.stop(.immediate)
        case (.hang, .process(let name)):
            try process(name).freeze()
        case (.hang, .broker(let node)):
            store.broker.freeze(node: node)
        case (.hang, .postgres):
            try store.cluster.freeze()
        case (.dark, .databaseLine(let name)):
            try await store.instanceProxies[name]?.darken()
        case (.dark, .brokerLine):
            try await store.kafkaProxy?.darken()
        case (.full(let switchingLog), .disk):
            return try await fillDisk(switchingLog: switchingLog)
        case (.trouble(let kind), .processor):
            store.stripe?.server.inject(StandInFault(kind, count: .max))
        default:
            preconditionFailure("No schedule has \(strike.fault) for \(strike.target).")
        }
        return nil
    }

    private func end(_ strike: Strike) async throws -> String? {
        switch (strike.fault, strike.target) {
        case (.kill, .process(let name)):
            try await process(name).start()
        case (.kill, .broker(let node)):
            try await store.broker.restart(node: node, keepingLog: true)
        case (.kill, .postgres):
            try await store.cluster.start()
        case (.hang, .process(let name)):
            try process(name).thaw()
        case (.hang, .broker(let node)):
            store.broker.thaw(node: node)
        case (.hang, .postgres):
            try store.cluster.thaw()
        case (.dark(let thenCut), .databaseLine(let name)):
            try await store.instanceProxies[name]?.lighten(cutting: thenCut)
        case (.dark(let thenCut), .brokerLine):
            try await store.kafkaProxy?.lighten(cutting: thenCut)
        case (.full, .disk):
            try store.cluster.disk?.makeRoom()
            return try await store.cluster.waitUntilAnswering()
                ? "it had ended by itself and was started" : nil
        case (.trouble, .processor):
            store.stripe?.server.clearFaults()
        default:
            break
        }
        return nil
    }

    private func process(_ name: String) throws -> ServiceProcess {
        guard let process = store.processes.first(where: { $0.name == name }) else {
            throw HarnessError("There is no process \(name).")
        }
        return process
    }

    /// Kills a service while the commit of a batch of events is on its way to PostgreSQL, and drops
    /// that commit.
    private func killBeforeCommit(_ process: ServiceProcess) async throws -> String? {
        let hold = store.instanceProxies[process.name]?
            .hold(at: .beforeCommit(ofTransactionWith: "UPDATE consumer_places"))
        // A consumer that was killed recently needs some seconds until its next batch. If no commit
        // comes by, the service is killed wherever it is.
        try? await hold?.reached(within: ChaosSchedule.aim)
        let isReached = hold?.isReached ?? false
        await process.kill()
        // The connection may be closed before it is seen.
        try? await hold?.dropped(within: .milliseconds(500))
        hold?.release()
        return isReached ? nil : "no commit came by"
    }

    /// Fills PostgreSQL's disk.
    ///
    /// - Parameter switchingLog: Whether to use up the files of the write-ahead log that are there for
    ///   later, so that the next one has to be made.
    /// - Returns: PostgreSQL's error, if there was one.
    /// - Throws: ``HarnessError`` when the file system cannot be filled.
    private func fillDisk(switchingLog: Bool) async throws -> String? {
        guard let disk = store.cluster.disk else { return nil }
        var said: String?
        if switchingLog {
            do {
                // This uses an existing session, because a new one may find no room.
                try await store.cluster.asSuperuser(within: .seconds(2)) { connection in
                    try disk.fill()
                    for _ in 1...20 {
                        _ = try connection.query("SELECT txid_current()::text")
                        _ = try connection.query("SELECT pg_switch_wal()::text")
                    }
                }
            } catch {
                said = "\(error)"
            }
        }
        // The disk is filled once more: PostgreSQL may have been down, or has freed space.
        try disk.fill()
        return said
    }
}
