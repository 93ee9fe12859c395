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
        let isKept = messages.keep([message(.transactionPurchased, 1)], at: start)
        #expect(isKept)
        #expect(messages.count == 1)
        let taken = messages.take(except: [])
        #expect(taken.map(\.offset) == [1])
        #expect(messages.count == 0)
        let both = taken + [message(.receiptIssued, 2)]
        let areKept = messages.keep(both, at: start + .milliseconds(10))
        #expect(!areKept)
        #expect(messages.count == 0)
    }

    @Test func theyWaitNoLongerThanFiftyMilliseconds() {
        var messages = passiveMessages()
        var areKept: [Bool] = []
        // The last ones wait on their own account.
        for milliseconds in [0, 49, 50, 51] {
            _ = messages.take(except: [])
            let purchased = message(.transactionPurchased, 1)
            areKept.append(messages.keep([purchased], at: start + .milliseconds(milliseconds)))
        }
        #expect(areKept == [true, true, false, true])
    }

    @Test func notTooManyWait() {
        var messages = passiveMessages()
        let many = (1...4).map { message(.transactionPurchased, $0) }
        let three = messages.keep(Array(many.dropLast()), at: start)
        #expect(three)
        let four = messages.keep(many, at: start)
        #expect(!four)
    }

    @Test func whatIsNoEventIsAppliedAtOnce() {
        var messages = passiveMessages()
        let malformed = messages.keep([message(nil, 1)], at: start)
        #expect(!malformed)
        let none = messages.keep([], at: start)
        #expect(!none)
    }

    @Test func thoseOfARevokedPartitionAreDropped() {
        var messages = passiveMessages()
        let two = [
            message(.transactionPurchased, 1), message(.transactionPurchased, 7, in: second),
        ]
        let areKept = messages.keep(two, at: start)
        #expect(areKept)
        #expect(messages.take(except: [first]).map(\.offset) == [7])
    }
}
