import Testing

@testable import Kafka
@testable import Messaging

@Suite struct HeldOffsetsTests {
    private let partition = KafkaTopicPartition(topic: "payments.transactions", partition: 0)
    private let start = ContinuousClock.now

    @Test func aHeldPartitionIsReadAgainAfterAPause() {
        var held = HeldOffsets()
        let isNew = held.hold([partition: 7], at: start)
        #expect(isNew)
        #expect(held.takeDue(at: start) == [:])
        let isNewAgain = held.hold([partition: 7], at: start)
        #expect(!isNewAgain)
        #expect(held.takeDue(at: start + HeldOffsets.pauseMin) == [partition: 7])
        // It is held no longer, unless the event is early again.
        #expect(held.first == [:])
    }

    @Test func pausesGrowWhileNothingHelps() {
        var held = HeldOffsets()
        var now = start
        var pauses: [Duration] = []
        for _ in 0..<10 {
            _ = held.hold([partition: 7], at: now)
            let begun = now
            while held.takeDue(at: now).isEmpty { now += .milliseconds(50) }
            pauses.append(now - begun)
        }
        #expect(pauses.first == HeldOffsets.pauseMin)
        #expect(pauses.last == HeldOffsets.pauseMax)
        #expect(held.isLong)
        // Long after the last early event the next one is the first again.
        _ = held.hold([:], at: now + .seconds(60))
        #expect(!held.isLong)
    }

    @Test func aPartitionThatAdvancesIsReadAgainSoon() {
        var held = HeldOffsets()
        var now = start
        for offset in Int64(0)..<20 {
            _ = held.hold([partition: offset], at: now)
            now += HeldOffsets.pauseMin
            #expect(held.takeDue(at: now) == [partition: offset])
        }
    }

    @Test func aPartitionWhoseLogWasLostIsReadAgainSoon() {
        var held = HeldOffsets()
        var now = start
        while !held.isLong {
            _ = held.hold([partition: 500], at: now)
            now += HeldOffsets.pauseMax
            #expect(held.takeDue(at: now) == [partition: 500])
        }
        held.readFromTheBeginning([partition])
        _ = held.hold([partition: 20], at: now)
        #expect(held.takeDue(at: now + HeldOffsets.pauseMin) == [partition: 20])
    }

    @Test func aPartitionThatWasTakenAwayIsForgotten() {
        var held = HeldOffsets()
        _ = held.hold([partition: 7], at: start)
        held.forget([partition])
        #expect(held.takeDue(at: start + .seconds(60)) == [:])
    }

    @Test func nothingBeyondAHeldOffsetIsCommitted() {
        func message(_ offset: Int64) -> KafkaMessage {
            KafkaMessage(
                topic: partition.topic,
                partition: partition.partition,
                offset: offset,
                headers: [],
                timestampMilliseconds: 0
            )
        }
        var offsets = UncommittedOffsets()
        offsets.add((5..<10).map(message), except: [], holding: [partition: 7], at: start)
        #expect(offsets.next == [partition: 7])
        offsets.add((10..<12).map(message), except: [], at: start)
        #expect(offsets.next == [partition: 12])
    }
}
