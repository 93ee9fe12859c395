import Testing

@testable import Kafka

@Suite struct TopicLooksTests {
    private let start = ContinuousClock.now

    private func partitions(_ topics: String...) -> [KafkaTopicPartition] {
        topics.map { KafkaTopicPartition(topic: $0, partition: 0) }
    }

    private func expectALook(at time: ContinuousClock.Instant, in looks: inout TopicLooks) {
        let areDue = looks.areDue(at: time)
        #expect(areDue)
    }

    private func expectNoLook(at time: ContinuousClock.Instant, in looks: inout TopicLooks) {
        let areDue = looks.areDue(at: time)
        #expect(!areDue)
    }

    @Test func aMissingTopicIsLookedForEverySecond() {
        var looks = TopicLooks(for: ["a", "b"], at: start)
        expectNoLook(at: start + .milliseconds(900), in: &looks)
        expectALook(at: start + .seconds(1), in: &looks)
        looks.found(["a", "other"])
        #expect(looks.missing == ["b"])
        expectNoLook(at: start + .milliseconds(1900), in: &looks)
        expectALook(at: start + .seconds(2), in: &looks)
    }

    @Test func nobodyLooksForTopicsThatWereSeen() {
        var looks = TopicLooks(for: ["a", "b"], at: start)
        looks.note(assigned: partitions("a"), revoked: [], at: start)
        looks.found(["b"])
        #expect(looks.missing.isEmpty)
        expectNoLook(at: start + .seconds(100), in: &looks)
    }

    @Test func aTopicWhosePartitionsAreTakenAwayIsLookedForAgain() {
        var looks = TopicLooks(for: ["a", "b"], at: start)
        looks.found(["a", "b"])
        let later = start + .seconds(60)
        looks.note(assigned: partitions("b"), revoked: partitions("a", "b"), at: later)
        #expect(looks.missing == ["a"])
        expectNoLook(at: later + .milliseconds(900), in: &looks)
        expectALook(at: later + .seconds(1), in: &looks)
    }
}
