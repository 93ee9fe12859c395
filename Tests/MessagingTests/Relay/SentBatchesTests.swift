import EventTypes
import Kafka
import Seals
import Testing

@testable import Messaging

@Suite struct SentBatchesTests {
    private let lost = KafkaError(.unknownTopic, "the topic is gone")

    /// Makes a batch of so many rows; the place of the last one is `position`.
    private func batch(
        through position: Int64,
        rows count: Int = 3,
        mayBeFollowed: Bool = true
    ) -> SentBatch {
        let event = OutboxEvent(
            id: EventID(bytes: SIMD16(repeating: 1)),
            type: .transactionPurchased,
            topic: Topics.paymentsTransactions,
            key: "ada",
            subject: "1",
            time: StoreTime(millisecondsSinceEpoch: 1),
            data: []
        )
        let place = LogPlace(xid: 1, position: position)
        return SentBatch(
            rows: Array(repeating: OutboxRow(place: place, event: event), count: count),
            place: place,
            records: [],
            tips: ChainTips(),
            start: 0,
            mayBeFollowed: mayBeFollowed
        )
    }

    private func sent(_ batches: SentBatch...) -> SentBatches {
        var sent = SentBatches()
        for batch in batches { sent.append(batch) }
        return sent
    }

    @Test func aFewEventsMayBeFollowedByOthers() {
        #expect(SentBatches().mayGrow)
        #expect(sent(batch(through: 1), batch(through: 2)).mayGrow)
    }

    @Test func manyEventsHaveToBeConfirmedFirst() {
        #expect(sent(batch(through: 1, rows: 63)).mayGrow)
        #expect(!sent(batch(through: 1, rows: 64)).mayGrow)
        #expect(!sent(batch(through: 1, rows: 60), batch(through: 2, rows: 4)).mayGrow)
    }

    @Test func manyBatchesHaveToBeConfirmedFirst() {
        var sent = sent(batch(through: 1), batch(through: 2), batch(through: 3))
        #expect(sent.mayGrow)
        sent.append(batch(through: 4))
        #expect(!sent.mayGrow)
    }

    @Test func whatMayNotBeOvertakenHasToBeConfirmedFirst() {
        #expect(!sent(batch(through: 1, mayBeFollowed: false)).mayGrow)
    }

    @Test func aLaterAnswerWaitsForTheEarlierOnes() {
        let (first, second) = (batch(through: 1), batch(through: 2))
        var sent = sent(first, second)
        second.note(.success([]))
        #expect(sent.takenPlaces() == [])
        #expect(!sent.areAnswered)
        first.note(.success([]))
        #expect(sent.areAnswered)
        #expect(sent.takenPlaces() == [1, 2])
        #expect(sent.isEmpty)
    }

    @Test func onlyWhatIsConfirmedIsTaken() {
        let (first, second) = (batch(through: 1), batch(through: 2))
        var sent = sent(first, second)
        first.note(.success([]))
        #expect(sent.takenPlaces() == [1])
        #expect(sent.last?.place.position == 2)
    }

    @Test func noMoreIsTakenThanASealCovers() {
        let batches = [
            batch(through: 1, rows: 3), batch(through: 2, rows: LogSeal.rowsMax),
            batch(through: 3),
        ]
        var sent = sent(batches[0], batches[1], batches[2])
        for batch in batches { batch.note(.success([])) }
        #expect(sent.takenPlaces() == [1])
        #expect(sent.takenPlaces() == [2])
        #expect(sent.takenPlaces() == [3])
    }

    @Test func whatFollowsAFailureIsSentAgain() {
        let (first, second, third) = (batch(through: 1), batch(through: 2), batch(through: 3))
        var sent = sent(first, second, third)
        first.note(.success([]))
        second.note(.failure(lost))
        third.note(.success([]))
        // The failure is not skipped, and does not hold back what came before it.
        let early = sent.takeFailed()
        #expect(early?.error.code == nil)
        #expect(sent.takenPlaces() == [1])
        #expect(sent.takenPlaces() == [])
        let failed = sent.takeFailed()
        #expect(failed?.batch.place.position == 2)
        #expect(failed?.error.code == .unknownTopic)
        #expect(sent.isEmpty)
    }
}

extension SentBatches {
    /// Takes what is confirmed, and returns the places of the batches.
    fileprivate mutating func takenPlaces() -> [Int64] {
        takeConfirmed().map(\.batch.place.position)
    }
}
