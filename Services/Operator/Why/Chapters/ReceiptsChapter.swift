import EventTypes

/// The data that `receipts` has about a transaction.
struct ReceiptsChapter: Sendable {
    struct Receipt: Sendable {
        let signedAt: Timestamp
        let revision: Int
        let chain: Int
        let isRevoked: Bool
    }

    struct Notification: Sendable {
        let type: String
        let state: String
        let signedAt: Timestamp
        let nextAttemptAt: MachineTime?
        var attempts: [(time: Timestamp, result: String)]
    }

    var receipt: Receipt?
    var finishedAt: Timestamp?
    var notifications: [Notification] = []
    var events: [ToldEvent] = []
}
