import HTTPTypes
import Logging
import Postgres
import ServiceLifecycle
import StoreAPI
import Synchronization
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct RequestBatcherTests {
    private struct Failure: Error {}

    /// Holds batches back and records them.
    private final class Gate: Sendable {
        private let batches = Mutex<[[Int]]>([])
        private let started = AsyncStream.makeStream(of: Int.self)
        private let released = AsyncStream.makeStream(of: Void.self)

        var seen: [[Int]] { batches.withLock { $0 } }

        func pass(_ batch: [Int]) async {
            batches.withLock { $0.append(batch) }
            started.continuation.yield(batch.count)
            for await _ in released.stream { return }
        }

        func waitForBatch() async { for await _ in started.stream { return } }
        func release(_ count: Int = 1) {
            for _ in 0..<count { released.continuation.yield() }
        }
    }

    @Test func requestsThatArriveMeanwhileShareTheNextBatch() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, String>(name: "test", logger: silent) { requests in
            await gate.pass(requests)
            return requests.map { "\($0)" }
        }
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { try await batcher.submit(0) }
            await gate.waitForBatch()
            for number in 1...20 { group.addTask { try await batcher.submit(number) } }
            while batcher.pendingCount < 20 { await Task.yield() }
            gate.release(2)
            let answers = try await group.reduce(into: []) { $0.append($1) }
            #expect(Set(answers) == Set((0...20).map { "\($0)" }))
        }
        #expect(gate.seen.map(\.count) == [1, 20])
    }

    @Test func requestsGatherAfterASmallBatch() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(
            name: "test",
            restingBelow: 2,
            restMax: .seconds(60),
            logger: silent
        ) { requests in
            await gate.pass(requests)
            return requests
        }
        let first = Task { try await batcher.submit(0) }
        await gate.waitForBatch()
        // The rest will be twice as long as the batch.
        try await Task.sleep(for: .seconds(4))
        gate.release()
        _ = try await first.value
        let others = [1, 2].map { number in Task { try await batcher.submit(number) } }
        while batcher.pendingCount < 2 { await Task.yield() }
        gate.release()
        for other in others { _ = try await other.value }
        #expect(gate.seen.map(\.count) == [1, 2])
        // A batch of two is no small one, so nothing waits after it.
        gate.release()
        #expect(try await batcher.submit(3) == 3)
    }

    @Test func aBatchHasAnUpperBound() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(name: "test", batchSizeMax: 3, logger: silent) {
            requests in
            await gate.pass(requests)
            return requests
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await batcher.submit(0) }
            await gate.waitForBatch()
            for number in 1...7 { group.addTask { try await batcher.submit(number) } }
            while batcher.pendingCount < 7 { await Task.yield() }
            gate.release(4)
            let answers = try await group.reduce(into: []) { $0.append($1) }
            #expect(answers.sorted() == Array(0...7))
        }
        #expect(gate.seen.map(\.count) == [1, 3, 3, 1])
    }

    @Test func afterABatchOfManyTheNextOneGathers() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(
            name: "test",
            restMax: .seconds(60),
            logger: silent
        ) { requests in
            await gate.pass(requests)
            return requests
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await batcher.submit(0) }
            await gate.waitForBatch()
            for number in 1...20 { group.addTask { try await batcher.submit(number) } }
            while batcher.pendingCount < 20 { await Task.yield() }
            gate.release()
            await gate.waitForBatch()
            // The rest is as long as the batch, and the next requests come within it.
            try await Task.sleep(for: .seconds(8))
            gate.release()
            while batcher.waitingCount > 0 { await Task.yield() }
            for number in 21...25 {
                group.addTask { try await batcher.submit(number) }
                while batcher.waitingCount < number - 20 { await Task.yield() }
            }
            gate.release(5)
            let answers = try await group.reduce(into: []) { $0.append($1) }
            #expect(answers.sorted() == Array(0...25))
        }
        #expect(gate.seen.map(\.count) == [1, 20, 5])
    }

    @Test func moreThanTheBoundIsRefusedAsOverloaded() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(name: "test", pendingMax: 2, logger: silent) {
            requests in
            await gate.pass(requests)
            return requests
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await batcher.submit(0) }
            await gate.waitForBatch()
            for number in 1...2 { group.addTask { try await batcher.submit(number) } }
            while batcher.pendingCount < 2 { await Task.yield() }
            let problem = await #expect(throws: HTTPProblem.self) { try await batcher.submit(3) }
            #expect(problem?.code == "overloaded")
            #expect(problem?.status == .serviceUnavailable)
            #expect(problem?.retryAfter == .seconds(1))
            gate.release(2)
            try await group.waitForAll()
        }
    }

    @Test func aRequestIsPreparedByItsCallerWhileABatchRuns() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(name: "test", pendingMax: 1, logger: silent) {
            requests in
            await gate.pass(requests)
            return requests
        }
        let prepared = Mutex<[Int]>([])
        let submit: @Sendable (Int) async throws -> Int = { number in
            try await batcher.submit(preparing: {
                prepared.withLock { $0.append(number) }
                return number
            })
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await submit(0) }
            await gate.waitForBatch()
            group.addTask { try await submit(1) }
            while batcher.pendingCount < 1 { await Task.yield() }
            // What is refused at once is not prepared.
            let problem = await #expect(throws: HTTPProblem.self) { try await submit(2) }
            #expect(problem?.code == "overloaded")
            let numbers = prepared.withLock { $0 }
            #expect(numbers == [0, 1])
            #expect(gate.seen == [[0]])
            gate.release(2)
            try await group.waitForAll()
        }
        #expect(gate.seen == [[0], [1]])
    }

    @Test func anErrorGoesToEveryRequestOfItsBatchAndNoOther() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(name: "test", logger: silent) { requests in
            await gate.pass(requests)
            if requests.contains(13) { throw Failure() }
            return requests
        }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await succeeds { try await batcher.submit(0) } }
            await gate.waitForBatch()
            for number in 11...14 {
                group.addTask { await succeeds { try await batcher.submit(number) } }
            }
            while batcher.pendingCount < 4 { await Task.yield() }
            gate.release(2)
            let outcomes = await group.reduce(into: []) { $0.append($1) }
            #expect(outcomes.count { $0 } == 1)
        }
        gate.release()
        #expect(try await batcher.submit(15) == 15)
    }

    @Test func aWrongNumberOfResponsesIsAnErrorForAll() async {
        let batcher = RequestBatcher<Int, Int>(name: "test", logger: silent) { _ in [] }
        let error = await #expect(throws: ServiceKitError.self) { try await batcher.submit(1) }
        #expect(error?.code == .batchAnsweredWrongly)
    }

    @Test func shutdownAnswersWhatWasTakenAndTakesNoMore() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(name: "test", logger: silent) { requests in
            await gate.pass(requests)
            return requests
        }
        let clients = try await withRunning([batcher]) { group in
            var clients = [Task { try await batcher.submit(0) }]
            await gate.waitForBatch()
            for number in 1...3 { clients.append(Task { try await batcher.submit(number) }) }
            while batcher.pendingCount < 3 { await Task.yield() }
            await group.triggerGracefulShutdown()
            while !batcher.isStopping { await Task.yield() }
            let problem = await #expect(throws: HTTPProblem.self) { try await batcher.submit(4) }
            #expect(problem?.code == "try_again")
            gate.release(2)
            return clients
        }
        var answers: [Int] = []
        for client in clients { answers.append(try await client.value) }
        #expect(answers == [0, 1, 2, 3])
    }

    @Test func whoseTimeIsUpIsAnsweredAndNotPerformedAnyMore() async throws {
        let gate = Gate()
        let batcher = RequestBatcher<Int, Int>(
            name: "test",
            waitMax: .seconds(10),
            logger: silent
        ) { requests in
            await gate.pass(requests)
            return requests
        }
        let first = Task { try await batcher.submit(0) }
        await gate.waitForBatch()
        let second = Task { try await batcher.submit(1) }
        for (task, detail) in [(first, "Nobody knows yet"), (second, "The service cannot reach")] {
            let problem = await #expect(throws: HTTPProblem.self) { try await task.value }
            #expect(problem?.code == "try_again")
            #expect(problem?.problem.detail.hasPrefix(detail) == true)
            #expect(problem?.retryAfter == .seconds(1))
        }
        gate.release(2)
        #expect(try await batcher.submit(2) == 2)
        #expect(gate.seen == [[0], [2]], "Nobody waits for 1, so it is not done.")
    }

    @Test func aBatchHasTheTimeOfOneRequestAndARequestItsOwn() async throws {
        let lefts = Mutex<[Duration?]>([])
        let batcher = RequestBatcher<Int, Int>(
            name: "test",
            waitMax: .seconds(300),
            logger: silent
        ) { requests in
            lefts.withLock { $0.append(PostgresWaitBudget.current?.left) }
            return requests
        }
        let budget = PostgresWaitBudget(.seconds(60))
        _ = try await PostgresWaitBudget.$current.withValue(budget) { try await batcher.submit(1) }
        #expect(lefts.withLock { $0 } == [.seconds(300)])
        #expect(budget.left < .seconds(60), "Its wait for the batch counts.")
    }

    @Test func aFailingBatchIsLoggedOnceInTenSecondsWithACount() async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { label in
            LogOutput(label: label, write: { line in lines.withLock { $0.append(line) } })
        }
        let batcher = RequestBatcher<Int, Int>(name: "payments", logger: logger) { _ in
            throw PostgresError(.serverBusy, "could not extend file: No space left on device")
        }
        for number in 0..<20 {
            await #expect(throws: PostgresError.self) { try await batcher.submit(number) }
        }
        let logged = lines.withLock { $0 }
        #expect(logged.count == 1)
        #expect(logged.first?.contains("Payments cannot be written") == true)
        #expect(logged.first?.contains("No space left on device") == true)
    }

    @Test func anOccasionalWarningCountsWhatItDidNotTell() {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { label in
            LogOutput(label: label, write: { line in lines.withLock { $0.append(line) } })
        }
        let warning = OccasionalWarning("It failed", logger: logger)
        let start = ContinuousClock.now
        for second in [0, 1, 9, 10, 12, 25] {
            warning.warn(of: Failure(), count: 3, at: start + .seconds(second))
        }
        let logged = lines.withLock { $0 }
        #expect(logged.count == 3)
        for (line, count) in zip(logged, [3, 9, 6]) { #expect(line.contains("requests=\(count)")) }
    }

    @Test func tenThousandRequestsAreEachAnsweredOnce() async throws {
        let batches = Mutex(0)
        let batcher = RequestBatcher<Int, Int>(name: "test", logger: silent) { requests in
            batches.withLock { $0 += 1 }
            await Task.yield()
            return requests.map { $0 * 2 }
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<10_000 {
                group.addTask { try await batcher.submit(number) == number * 2 }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(batches.withLock { $0 } < 10_000)
    }
}

private func succeeds(_ operation: () async throws -> Int) async -> Bool {
    do {
        _ = try await operation()
        return true
    } catch {
        return false
    }
}
