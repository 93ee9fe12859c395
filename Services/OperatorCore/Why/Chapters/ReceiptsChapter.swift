import EventTypes

/// The data that `receipts` has about a transaction.
struct ReceiptsChapter: Sendable {
    struct Receipt: Sendable {
        let signedAt: StoreTime
        let revision: Int
        let chain: Int
        let isRevoked: Bool
    }

    struct Notification: Sendable {
        let type: String
        let state: String
        let signedAt: StoreTime
        let nextAttemptAt: MachineTime?
        var attempts: [(time: StoreTime, result: String)]
    }

    var receipt: Receipt?
    var finishedAt: StoreTime?
    var notifications: [Notification] = []
    var events: [StoryEvent] = []
}
