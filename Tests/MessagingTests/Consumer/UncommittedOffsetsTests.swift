import Testing

@testable import Kafka
@testable import Messaging

@Suite struct UncommittedOffsetsTests {
    private let start = ContinuousClock.now
    private let first = KafkaTopicPartition(topic: "a", partition: 0)
    private let second = KafkaTopicPartition(topic: "a", partition: 1)

    private func message(_ partition: KafkaTopicPartition, _ offset: Int64) -> KafkaMessage {
        KafkaMessage(
            topic: partition.topic,
            partition: partition.partition,
            offset: offset,
            key: nil,
            value: nil,
            headers: [],
            timestampMilliseconds: 0
        )
    }

    @Test func theyAreHeldBackForAWhileAndCommittedTogether() {
        var offsets = UncommittedOffsets()
        #expect(!offsets.areDue(isIdle: true, at: start), "there are none")
        offsets.add([message(first, 4), message(second, 9)], except: [], at: start)
        offsets.add([message(first, 5)], except: [], at: start + .milliseconds(200))
        #expect(!offsets.areDue(isIdle: false, at: start + .milliseconds(249)))
        #expect(offsets.areDue(isIdle: false, at: start + .milliseconds(250)))
        let begun = offsets.begin()
        #expect(begun == [first: 6, second: 10], "the next to read")
        offsets.settle()
        #expect(!offsets.areDue(isIdle: true, at: start + .seconds(9)))
    }

    @Test func offsetsDoNotWaitOnceNothingComes() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 4)], except: [], at: start)
        #expect(offsets.areDue(isIdle: true, at: start))
    }

    @Test func aPartitionThatIsAnothersIsNotCommitted() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 4), message(second, 9)], except: [], at: start)
        offsets.forget([first])
        #expect(offsets.next == [second: 10])
    }

    @Test func ofALogThatIsReadAgainNothingBeforeHolds() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 400)], except: [], at: start)
        offsets.add([message(first, 401)], except: [first], at: start)
        #expect(offsets.next.isEmpty)
        offsets.add([message(first, 0)], except: [], at: start)
        #expect(offsets.next == [first: 1], "a new log counts from zero")
    }

    @Test func aBrokerThatIsAwayIsAskedAgainInASecond() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 4)], except: [], at: start)
        _ = offsets.begin()
        offsets.postpone(at: start)
        #expect(offsets.isPostponed)
        #expect(!offsets.areDue(isIdle: true, at: start + .milliseconds(999)))
        #expect(offsets.areDue(isIdle: true, at: start + .seconds(1)))
        #expect(offsets.next == [first: 5])
    }

    @Test func oneCommitIsUnderWayAtATime() {
        var offsets = UncommittedOffsets()
        #expect(offsets.areSettled)
        offsets.add([message(first, 4)], except: [], at: start)
        _ = offsets.begin()
        offsets.add([message(first, 5)], except: [], at: start)
        #expect(!offsets.areDue(isIdle: true, at: start + .seconds(9)))
        offsets.settle()
        #expect(!offsets.areSettled)
        #expect(offsets.areDue(isIdle: true, at: start))
        #expect(offsets.next == [first: 6])
    }

    @Test func whatCameAfterAFailedCommitIsCommittedInItsPlace() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 4), message(second, 9)], except: [], at: start)
        _ = offsets.begin()
        offsets.add([message(first, 5)], except: [], at: start)
        offsets.postpone(at: start)
        #expect(offsets.next == [first: 6, second: 10])
    }

    @Test func aPartitionThatIsAnothersIsNotCommittedAgain() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 4), message(second, 9)], except: [], at: start)
        _ = offsets.begin()
        offsets.forget([first])
        offsets.postpone(at: start)
        #expect(offsets.next == [second: 10])
    }

    @Test func anOffsetOfALostLogIsNotCommittedAgain() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 400)], except: [], at: start)
        _ = offsets.begin()
        offsets.add([message(first, 7)], except: [first], at: start)
        offsets.postpone(at: start)
        #expect(offsets.next.isEmpty)
        let last = offsets.takeAll()
        #expect(last.isEmpty)
    }

    @Test func theLastCommitHasWhatHasNoAnswer() {
        var offsets = UncommittedOffsets()
        offsets.add([message(first, 4), message(second, 9)], except: [], at: start)
        _ = offsets.begin()
        offsets.add([message(first, 5)], except: [], at: start)
        let all = offsets.takeAll()
        #expect(all == [first: 6, second: 10])
        #expect(offsets.areSettled)
    }
}
