import Testing

@testable import Kafka

@Suite struct TopicLooksTests {
    private let start = ContinuousClock.now

    private func partitions(_ topics: String...) -> [KafkaTopicPartition] {
        topics.map { KafkaTopicPartition(topic: $0, partition: 0) }
    }

    @Test func aMissingTopicIsLookedForEverySecond() {
        var looks = TopicLooks(for: ["a", "b"], at: start)
        #expect(!looks.areDue(at: start + .milliseconds(900)))
        #expect(looks.areDue(at: start + .seconds(1)))
        looks.found(["a", "other"])
        #expect(looks.missing == ["b"])
        #expect(!looks.areDue(at: start + .milliseconds(1900)))
        #expect(looks.areDue(at: start + .seconds(2)))
    }

    @Test func nobodyLooksForTopicsThatWereSeen() {
        var looks = TopicLooks(for: ["a", "b"], at: start)
        looks.note(assigned: partitions("a"), revoked: [], at: start)
        looks.found(["b"])
        #expect(looks.missing.isEmpty)
        #expect(!looks.areDue(at: start + .seconds(100)))
    }

    @Test func aTopicWhosePartitionsAreTakenAwayIsLookedForAgain() {
        var looks = TopicLooks(for: ["a", "b"], at: start)
        looks.found(["a", "b"])
        let later = start + .seconds(60)
        looks.note(assigned: partitions("b"), revoked: partitions("a", "b"), at: later)
        #expect(looks.missing == ["a"])
        #expect(!looks.areDue(at: later + .milliseconds(900)))
        #expect(looks.areDue(at: later + .seconds(1)))
    }
}
