import Testing
import TestSupport

@testable import Fulfillment

@Suite struct QueueStreamRulesTests {
    @Test(arguments: RandomSeed.ofThisRun)
    func aClientCutOffInASnapshotResumesWithoutALoss(seed: RandomSeed) {
        var generator = seed.generator()
        for _ in 0..<200 {
            let revisions = (1...20).map { Int64($0) }.shuffled(using: &generator).prefix(8)
            let ids = QueueStreamRules.snapshotIDs(revisions: Array(revisions), queueRevision: 20)
            #expect(ids.last == 20)
            for (index, id) in ids.enumerated() {
                let unsent = revisions.dropFirst(index + 1)
                #expect(unsent.allSatisfy { $0 > id ?? 0 })
            }
            #expect(ids.compactMap { $0 } == ids.compactMap { $0 }.sorted())
        }
    }

    @Test func anEventFromWhichNobodyCouldResumeHasNoID() {
        #expect(QueueStreamRules.snapshotIDs(revisions: [2, 1], queueRevision: 2) == [nil, 2])
        #expect(QueueStreamRules.snapshotIDs(revisions: [], queueRevision: 9).isEmpty)
    }

    @Test func onlyTheNextRevisionIsSent() {
        #expect(QueueStreamRules.action(for: 4, after: 4) == .skip)
        #expect(QueueStreamRules.action(for: 5, after: 4) == .send)
        #expect(QueueStreamRules.action(for: 6, after: 4) == .readDatabase)
    }

    @Test func anIDThatTheQueueHasNotReachedBeginsAgain() {
        #expect(QueueStreamRules.canResume(after: 4, queueRevision: 4))
        #expect(!QueueStreamRules.canResume(after: 5, queueRevision: 4))
        #expect(!QueueStreamRules.canResume(after: 0, queueRevision: 4))
        #expect(!QueueStreamRules.canResume(after: nil, queueRevision: 4))
    }
}
