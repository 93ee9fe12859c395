import ClockAndIDs
import EventTypes
import Kafka
import Seals
import Testing

@testable import Messaging

@Suite struct LogEpochsTests {
    private func event(offset: Int64, epoch: Int32, partition: Int32 = 0) -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: StoreTime(millisecondsSinceEpoch: 0)),
            type: .transactionPurchased,
            topic: "t",
            key: "k",
            subject: "1",
            time: StoreTime(millisecondsSinceEpoch: 0),
            traceparent: nil,
            data: [],
            partition: partition,
            offset: offset,
            epoch: epoch,
            place: .start
        )
    }

    @Test func eventsOfTheKnownLogPass() {
        var epochs = LogEpochs()
        epochs.load([KafkaTopicPartition(topic: "t", partition: 0): 1])
        let (admitted, rewind) = epochs.admit([
            event(offset: 5, epoch: 1), event(offset: 6, epoch: 1),
        ])
        #expect(admitted.map(\.offset) == [5, 6])
        #expect(rewind.isEmpty)
    }

    @Test func aNewerLogMetInTheMiddleIsReadFromItsBeginningOnce() {
        let partition = KafkaTopicPartition(topic: "t", partition: 0)
        var epochs = LogEpochs()
        epochs.load([partition: 1])
        let (admitted, rewind) = epochs.admit([
            event(offset: 5, epoch: 2), event(offset: 6, epoch: 2),
            event(offset: 7, epoch: 1, partition: 1),
        ])
        #expect(admitted.map(\.partition) == [1])
        #expect(rewind == [partition])
        let again = epochs.admit([event(offset: 0, epoch: 2), event(offset: 1, epoch: 2)])
        #expect(again.admitted.map(\.offset) == [0, 1])
        #expect(again.rewind.isEmpty)
    }

    @Test func eventsOfTheOldEpochInANewLogPassBeforeTheNewerOnes() {
        let partition = KafkaTopicPartition(topic: "t", partition: 0)
        var epochs = LogEpochs()
        epochs.load([partition: 1])
        _ = epochs.admit([event(offset: 3, epoch: 2)])
        let (admitted, rewind) = epochs.admit([
            event(offset: 0, epoch: 1), event(offset: 1, epoch: 2),
        ])
        #expect(admitted.map(\.offset) == [0, 1])
        #expect(rewind.isEmpty)
    }

    @Test func aNewerLogReadFromItsBeginningPassesAtOnce() {
        var epochs = LogEpochs()
        epochs.load([KafkaTopicPartition(topic: "t", partition: 0): 1])
        let (admitted, rewind) = epochs.admit([event(offset: 0, epoch: 2)])
        #expect(admitted.count == 1)
        #expect(rewind.isEmpty)
    }
}
