import EventTypes

/// The data that `fulfillment` has about a transaction.
struct FulfillmentChapter: Sendable {
    struct Delivery: Sendable {
        let target: DeliveryTargetName
        let kind: String
        let host: String?
        let state: String
        let attempts: Int
        let lastAttemptAt: MachineTime?
        let lastResult: String?
        let nextAttemptAt: MachineTime?
        let deliveredAt: StoreTime?

        /// Whether it reports a refund or its reversal.
        var isRefund: Bool { target.isOfRefund }
    }

    struct Credit: Sendable {
        let unit: String
        let kind: String
        let amount: Int64
        let time: StoreTime
    }

    /// Whether the queue has the transaction at all.
    var isQueued = false
    var isDelivered = false
    var finishedAt: StoreTime?
    var deliveries: [Delivery] = []
    var credits: [Credit] = []
    var events: [StoryEvent] = []
}
