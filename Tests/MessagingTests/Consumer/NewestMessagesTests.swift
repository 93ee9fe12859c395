import Testing

@testable import Kafka
@testable import Messaging

/// A reader notices that the broker has lost the log that it reads.
struct NewestMessagesTests {
    private let partition = KafkaTopicPartition(topic: "store.clock", partition: 0)

    private func message(_ offset: Int64, _ text: String) -> KafkaMessage {
        KafkaMessage(
            topic: partition.topic,
            partition: partition.partition,
            offset: offset,
            key: nil,
            value: Array(text.utf8),
            headers: [],
            timestampMilliseconds: 0
        )
    }

    @Test func theNewestMessageIsAskedForAgain() {
        var newest = NewestMessages()
        #expect(newest.admit([message(0, "a"), message(1, "b")])?.count == 2)
        #expect(newest.look() == [partition: 1])
        #expect(newest.awaited == [partition])
        #expect(newest.admit([message(1, "b")]) == [])
        #expect(newest.awaited.isEmpty)
    }

    @Test func anotherMessageAtTheSameOffsetIsANewLog() {
        var newest = NewestMessages()
        _ = newest.admit([message(0, "a")])
        _ = newest.look()
        #expect(newest.admit([message(0, "c")]) == nil)
    }

    @Test func theMessagesOfAForgottenPartitionAreAdmittedAgain() {
        var newest = NewestMessages()
        _ = newest.admit([message(0, "a"), message(1, "b")])
        _ = newest.look()
        newest.forget(partition)
        #expect(newest.awaited.isEmpty)
        #expect(newest.admit([message(0, "a"), message(1, "b")])?.count == 2)
    }
}
