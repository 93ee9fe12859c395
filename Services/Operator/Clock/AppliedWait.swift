import EventTypes
import OperatorCore

/// A wait until every service has acted on what the others have published, as their databases say.
struct AppliedWait {
    /// The number of looks in a row without an open event after which nothing is on its way.
    ///
    /// A payment causes a receipt, the receipt a change of the queue, and that change may go back to
    /// `payments` and `receipts`. A look reads all consumers at the same time, so it may miss the event
    /// that one of these steps publishes meanwhile.
    private static let looksNeeded = 3

    private let databases: DatabaseAddresses
    /// The position of the newest notification before the wait.
    private let notified: Int64
    private var looks = 0

    /// Begins a wait.
    ///
    /// - Parameter databases: The databases of the services.
    /// - Throws: ``OperatorError`` if a database cannot be read.
    init(_ databases: DatabaseAddresses) async throws {
        self.databases = databases
        notified = try await DatabaseReader.read(databases.address(of: .receipts)) {
            try NotificationCountStore.newest(on: $0)
        }
    }

    /// Whether every service has acted on everything.
    var isOver: Bool { looks >= Self.looksNeeded }

    /// Looks once.
    ///
    /// - Parameter now: The store's time.
    /// - Returns: The consumers that have yet to act on events.
    /// - Throws: ``OperatorError`` if a database cannot be read.
    mutating func look(at now: StoreTime) async throws -> [String] {
        let report = try await LagReader(databases: databases).report(at: now)
        // A count that ended before the log did says nothing of the rest.
        let behind = report.consumers.filter { $0.events > 0 || $0.isAtLeast }
        looks = behind.isEmpty ? looks + 1 : 0
        return behind.map { "\($0.consumer) behind \($0.topic)" }
    }

    /// The result in words.
    func text() async throws -> String {
        let count = try await DatabaseReader.read(databases.address(of: .receipts)) {
            [notified] connection in
            try NotificationCountStore.count(after: notified, on: connection)
        }
        let signed = count == 1 ? "1 notification was signed" : "\(count) notifications were signed"
        return "Every service has acted on it; \(signed)."
    }
}
