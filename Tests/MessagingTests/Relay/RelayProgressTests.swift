import EventTypes
import Kafka
import Seals
import Testing

@testable import Messaging

@Suite struct RelayProgressTests {
    private let topic = "payments.transactions"
    private var partition: KafkaTopicPartition { KafkaTopicPartition(topic: topic, partition: 0) }

    private func fresh() -> RelayProgress {
        RelayProgress(published: .start, confirmed: .start, epoch: 1, lastOffsets: [:])
    }

    private func place(_ position: Int64) -> LogPlace {
        LogPlace(xid: UInt64(position) + 700, position: position)
    }

    @Test func aBatchWithHigherOffsetsMovesThePlace() {
        var progress = fresh()
        let moved1 = progress.publish(through: place(10), offsets: [partition: 0...9])
        #expect(moved1)
        let moved2 = progress.publish(through: place(20), offsets: [partition: 10...19])
        #expect(moved2)
        #expect(progress.published == place(20))
        #expect(progress.lastOffsets == [partition: 19])
        #expect(progress.isUnconfirmed)
    }

    @Test func anOffsetThatGoesBackwardsMeansTheLogIsLost() {
        var progress = fresh()
        let moved3 = progress.publish(through: place(10), offsets: [partition: 0...9])
        #expect(moved3)
        let before = progress
        let moved4 = progress.publish(through: place(20), offsets: [partition: 0...9])
        #expect(!moved4)
        #expect(progress == before)
    }

    @Test func theLagOfAConsumerIsWhatItHasNotCommitted() {
        let other = KafkaTopicPartition(topic: topic, partition: 1)
        var progress = fresh()
        let consumers: [String: [ServiceName]] = [topic: [.receipts, .fulfillment]]
        #expect(
            progress.lag(committed: [:], consumers: consumers) == [.receipts: 0, .fulfillment: 0]
        )
        _ = progress.publish(through: place(10), offsets: [partition: 0...9, other: 0...4])
        let lag = progress.lag(
            // The replayed messages come after the relay's own events.
            committed: [.receipts: [partition: 4, other: 7]],
            consumers: consumers
        )
        #expect(lag == [.receipts: 6, .fulfillment: 15])
    }

    @Test func afterALossPublishingBeginsAtTheOldestUnconfirmedEvent() {
        var progress = fresh()
        _ = progress.publish(through: place(10), offsets: [partition: 0...9])
        _ = progress.publish(through: place(20), offsets: [partition: 10...19])
        progress.confirm(
            committed: [.receipts: [partition: 20], .fulfillment: [partition: 12]],
            consumers: [topic: [.receipts, .fulfillment]]
        )
        #expect(progress.confirmed == place(10))
        progress.restartAfterLoss()
        #expect(progress.published == place(10))
        #expect(progress.epoch == 2)
        #expect(progress.lastOffsets.isEmpty)
    }

    @Test func afterALossEventsNameTheSamePredecessorsAgain() {
        func row(_ position: Int64, _ key: String) -> OutboxRow {
            OutboxRow(
                place: place(position),
                event: OutboxEvent(
                    id: EventID(bytes: .init(repeating: 1)),
                    type: .transactionPurchased,
                    topic: Topics.paymentsTransactions,
                    key: key,
                    subject: "1",
                    time: StoreTime(millisecondsSinceEpoch: 1),
                    data: []
                )
            )
        }
        var progress = fresh()
        var tips = progress.tips
        #expect(tips.append(row(10, "ada")) == .start)
        _ = progress.publish(through: place(10), offsets: [partition: 0...0], tips: tips)
        #expect(tips.append(row(20, "ada")) == place(10))
        _ = progress.publish(through: place(20), offsets: [partition: 1...1], tips: tips)
        progress.confirm(
            committed: [.receipts: [partition: 1]],
            consumers: [topic: [.receipts]]
        )
        progress.restartAfterLoss()
        tips = progress.tips
        #expect(tips.append(row(20, "ada")) == place(10))
        #expect(tips.append(row(30, "ada")) == place(20))
    }

    @Test func aConsumerThatHasCommittedNothingHoldsConfirmationBack() {
        var progress = fresh()
        _ = progress.publish(through: place(10), offsets: [partition: 0...9])
        progress.confirm(
            committed: [.receipts: [partition: 10]],
            consumers: [topic: [.receipts, .fulfillment]]
        )
        #expect(progress.confirmed == .start)
    }

    @Test func aTopicThatOnlyStreamsFollowHoldsNothingBack() {
        let queues = KafkaTopicPartition(topic: "fulfillment.queues", partition: 0)
        let consumers: [String: [ServiceName]] = [topic: [.payments], "fulfillment.queues": []]
        var progress = fresh()
        _ = progress.publish(through: place(10), offsets: [partition: 0...4, queues: 0...4])
        _ = progress.publish(through: place(20), offsets: [queues: 5...14])
        progress.confirm(committed: [.payments: [partition: 5]], consumers: consumers)
        #expect(progress.confirmed == place(20))
        #expect(progress.lag(committed: [:], consumers: consumers) == [.payments: 5])
        // Its lost log is noticed as any other.
        #expect(progress.isContradicted(byEnds: [partition: 5, queues: 0]))
    }

    @Test func aRestartedRelayConfirmsWhatTheLastOnePublished() {
        var progress = RelayProgress(
            published: place(20),
            confirmed: place(5),
            epoch: 3,
            lastOffsets: [partition: 19]
        )
        #expect(progress.isUnconfirmed)
        progress.confirm(
            committed: [.receipts: [partition: 20]],
            consumers: [topic: [.receipts]]
        )
        #expect(progress.confirmed == place(20))
        #expect(!progress.isUnconfirmed)
    }

    @Test func manyUnconfirmedBatchesKeepTheOldestAndTheNewestPlace() {
        var progress = fresh()
        for batch in 0..<500 as Range<Int64> {
            let first = batch * 10
            _ = progress.publish(
                through: place(first + 10),
                offsets: [partition: first...first + 9]
            )
        }
        progress.confirm(committed: [.receipts: [partition: 10]], consumers: [topic: [.receipts]])
        #expect(progress.confirmed == place(10))
        progress.confirm(
            committed: [.receipts: [partition: 5000]],
            consumers: [topic: [.receipts]]
        )
        #expect(progress.confirmed == place(5000))
    }
}
