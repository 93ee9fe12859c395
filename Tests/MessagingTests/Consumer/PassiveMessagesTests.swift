import EventTypes
import Testing

@testable import Kafka
@testable import Messaging

@Suite struct PassiveMessagesTests {
    private let start = ContinuousClock.now
    private let first = KafkaTopicPartition(topic: "a", partition: 0)
    private let second = KafkaTopicPartition(topic: "a", partition: 1)

    private func passiveMessages() -> PassiveMessages {
        PassiveMessages(besides: [.receiptIssued], countMax: 4)
    }

    private func message(
        _ type: EventType?,
        _ offset: Int64,
        in partition: KafkaTopicPartition? = nil
    ) -> KafkaMessage {
        let partition = partition ?? first
        return KafkaMessage(
            topic: partition.topic,
            partition: partition.partition,
            offset: offset,
            key: nil,
            value: nil,
            headers: type.map {
                [KafkaHeader(name: "ce_type", value: Array($0.rawValue.utf8))]
            } ?? [],
            timestampMilliseconds: 0
        )
    }

    @Test func theyWaitForAnEventThatIsActedOn() {
        var messages = passiveMessages()
        let purchased = message(.transactionPurchased, 1)
        #expect(messages.keep([purchased], at: start))
        #expect(messages.count == 1)
        let taken = messages.take(except: [])
        #expect(taken.map(\.offset) == [1])
        #expect(messages.count == 0)
        let both = taken + [message(.receiptIssued, 2)]
        #expect(!messages.keep(both, at: start + .milliseconds(10)))
        #expect(messages.count == 0)
    }

    @Test func theyWaitNoLongerThanFiftyMilliseconds() {
        var messages = passiveMessages()
        let purchased = message(.transactionPurchased, 1)
        #expect(messages.keep([purchased], at: start))
        #expect(messages.keep(messages.take(except: []), at: start + .milliseconds(49)))
        #expect(!messages.keep(messages.take(except: []), at: start + .milliseconds(50)))
        // The next ones wait on their own account.
        #expect(messages.keep([purchased], at: start + .milliseconds(51)))
    }

    @Test func notTooManyWait() {
        var messages = passiveMessages()
        let many = (1...4).map { message(.transactionPurchased, $0) }
        #expect(messages.keep(Array(many.dropLast()), at: start))
        #expect(!messages.keep(many, at: start))
    }

    @Test func whatIsNoEventIsAppliedAtOnce() {
        var messages = passiveMessages()
        #expect(!messages.keep([message(nil, 1)], at: start))
        #expect(!messages.keep([], at: start))
    }

    @Test func thoseOfARevokedPartitionAreDropped() {
        var messages = passiveMessages()
        let kept = [
            message(.transactionPurchased, 1), message(.transactionPurchased, 7, in: second),
        ]
        #expect(messages.keep(kept, at: start))
        #expect(messages.take(except: [first]).map(\.offset) == [7])
    }
}
