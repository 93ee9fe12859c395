import EventTypes
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct AttemptQueueTests {
    func attempts(_ count: Int) -> [ProcessorAttempt] {
        (0..<count).map {
            ProcessorAttempt(
                transactionID: TransactionID(number: Int64($0)),
                kind: .charge,
                id: IDSource.random.attempt(at: startTime),
                step: .calling,
                paymentMethod: "",
                amount: usd(1)
            )
        }
    }

    @Test func attemptsComeOutInOrderAndInBoundedBatches() async {
        let queue = AttemptQueue(countMax: 20_000)
        let all = attempts(10_000)
        queue.append(all)
        var taken: [ProcessorAttempt] = []
        while queue.count > 0 {
            let batch = await queue.next(256)
            #expect(batch.count <= 256)
            taken += batch
        }
        #expect(taken == all)
    }

    @Test func aBatchIsTakenFromSeveralPieces() async {
        let queue = AttemptQueue(countMax: 100)
        let all = attempts(12)
        for start in stride(from: 0, to: 12, by: 3) { queue.append(Array(all[start..<start + 3])) }
        #expect(await queue.next(5) == Array(all[..<5]))
        let now = startTime.onMachines
        #expect(queue.leases(endingBy: now) == all[5...].map(\.key))
        let leaseEnd = now.advanced(by: .seconds(10))
        queue.renew(Set(all[5...6].map(\.key)), until: leaseEnd)
        #expect(queue.leases(endingBy: now) == all[7...].map(\.key))
        let rest = await queue.next(100)
        #expect(rest.map(\.key) == all[5...].map(\.key))
        #expect(rest.prefix(2).allSatisfy { $0.dueAt == leaseEnd })
        #expect(queue.count == 0)
    }

    @Test func whatDoesNotFitIsRejected() {
        let queue = AttemptQueue(countMax: 3)
        #expect(queue.append(attempts(5)) == 2)
        #expect(queue.count == 3)
    }

    @Test func whatABatchLeavesWakesAnotherWorker() async throws {
        let queue = AttemptQueue(countMax: 100)
        async let first = queue.next(10)
        async let second = queue.next(10)
        // Both wait by now, or take their batches at once.
        try await Task.sleep(for: .milliseconds(100))
        queue.append(attempts(15))
        let counts = await [first.count, second.count]
        #expect(counts.sorted() == [5, 10])
    }

    /// Otherwise one processor would wait for the other at the end of many renewals.
    @Test(arguments: [(150, [75, 75]), (1000, [256, 256]), (70, [6, 64])])
    func waitingWorkersGetEqualShares(_ count: Int, _ shares: [Int]) async {
        let queue = AttemptQueue(countMax: 1000)
        async let first = queue.next(256, isShared: true)
        async let second = queue.next(256, isShared: true)
        while queue.callerCount < 2 { await Task.yield() }
        queue.append(attempts(count))
        let counts = await [first.count, second.count]
        #expect(counts.sorted() == shares)
    }

    @Test func aWorkerThatNobodyWaitsBesideTakesAll() async {
        let queue = AttemptQueue(countMax: 1000)
        queue.append(attempts(200))
        #expect(await queue.next(256, isShared: true).count == 200)
    }

    @Test func waitingWorkersAreWokenByAttemptsAndByTheEnd() async {
        let queue = AttemptQueue(countMax: 100)
        async let first = queue.next(10)
        async let second = queue.next(10)
        queue.append(attempts(1))
        queue.close()
        let counts = await [first.count, second.count]
        #expect(counts.sorted() == [0, 1])
        #expect(queue.append(attempts(1)) == 1)
    }
}
