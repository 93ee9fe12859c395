import EventTypes
import StoreAPI
import Testing

@testable import PaymentQueue

@Suite struct DownloadPlanTests {
    private let digest = ContentDigest(unchecked: String(repeating: "a", count: 64))

    private func plan(found: Int64 = 0, failuresMax: Int = 3) -> DownloadPlan {
        DownloadPlan(length: 100, digest: digest, found: found, failuresMax: failuresMax)
    }

    private func head(
        _ status: Int,
        from first: Int = 0,
        last: Int = 99,
        of length: Int = 100,
        entityTag: String? = nil
    ) -> DownloadPlan.Head {
        DownloadPlan.Head(
            status: status,
            entityTag: entityTag ?? "\"\(digest)\"",
            contentRange: "bytes \(first)-\(last)/\(length)"
        )
    }

    private func code(_ answer: DownloadPlan.Answer) -> ContentDownloadError.Code? {
        guard case .ignore(.fail(let error)) = answer else { return nil }
        return error.code
    }

    @Test func itBeginsWhereTheBytesEndThatAreThere() {
        #expect(plan().next == .ask(from: 0))
        #expect(plan(found: 40).next == .ask(from: 40))
        #expect(plan(found: 100).next == .verify)
        #expect(plan(found: 101).next == .restart)
        var plan = plan(found: 101)
        plan.restarted()
        #expect(plan.next == .ask(from: 0))
    }

    @Test func aPartFollowsWhatIsThereAndTheWholeReplacesIt() {
        var plan = plan()
        #expect(plan.answered(head(200)) == .append)
        plan = self.plan(found: 40)
        #expect(plan.answered(head(206, from: 40)) == .append)
        #expect(plan.answered(head(206, from: 40, last: 59)) == .append)
        #expect(plan.written == 40)
        #expect(plan.answered(head(200)) == .appendToNothing)
        #expect(plan.written == 0)
    }

    @Test func aPartOfSomethingElseIsNotTaken() {
        var plan = plan(found: 40)
        for other in [
            head(206, from: 0), head(206, from: 4), head(206, from: 40, of: 101),
            head(206, from: 40, entityTag: "\"b\""), head(200, entityTag: "\"b\""), head(416),
            DownloadPlan.Head(status: 206), head(204), head(302),
        ] {
            #expect(code(plan.answered(other)) == .answerUnexpected)
        }
        #expect(plan.written == 40)
    }

    @Test func aRefusalEndsItAndAFailureOfTheStoreIsWaitedOut() {
        var plan = plan(failuresMax: 100)
        for status in [400, 403, 404, 409, 410] {
            #expect(plan.answered(head(status)) == .refuse)
        }
        for (index, status) in [408, 429, 500, 502, 503].enumerated() {
            var head = head(status)
            head.retryAfter = .seconds(7)
            #expect(
                plan.answered(head)
                    == .ignore(.wait(failures: index + 1, atLeast: .seconds(7)))
            )
        }
    }

    @Test func aTokenIsRefusedTwiceBeforeItEndsIt() {
        var plan = plan()
        #expect(plan.answered(head(401)) == .ignore(.wait(failures: 1, atLeast: .zero)))
        #expect(plan.answered(head(401)) == .refuse)
    }

    @Test func failuresInARowHaveAnEndAndAByteStartsTheCountAgain() throws {
        var plan = plan(failuresMax: 3)
        #expect(plan.lost("x") == .wait(failures: 1, atLeast: .zero))
        #expect(plan.lost("x") == .wait(failures: 2, atLeast: .zero))
        try plan.received(1)
        #expect(plan.lost("x") == .wait(failures: 1, atLeast: .zero))
        try plan.received(0)
        #expect(plan.ended() == .wait(failures: 2, atLeast: .zero))
        guard case .fail(let error) = plan.lost("x") else {
            Issue.record("it goes on")
            return
        }
        #expect(error.code == .notReachable)
    }

    @Test func allBytesAreVerifiedFewerAreAskedForMoreAreRefused() throws {
        var plan = plan(found: 40)
        try plan.received(59)
        #expect(plan.ended() == .wait(failures: 1, atLeast: .zero))
        #expect(plan.next == .ask(from: 99))
        #expect(throws: ContentDownloadError.self) { try plan.received(2) }
        #expect(plan.written == 99)
        try plan.received(1)
        #expect(plan.ended() == .verify)
    }

    @Test func theWaitDoublesUpToItsCeilingAndHalfOfItIsChance() {
        let retries = DownloadRetries(base: .seconds(1), ceiling: .seconds(60), failuresMax: 5)
        #expect(retries.delay(afterFailures: 1, jitter: 1) == .seconds(1))
        #expect(retries.delay(afterFailures: 1, jitter: 0) == .milliseconds(500))
        #expect(retries.delay(afterFailures: 4, jitter: 1) == .seconds(8))
        #expect(retries.delay(afterFailures: 4, jitter: 0.5) == .seconds(6))
        #expect(retries.delay(afterFailures: 1000, jitter: 1) == .seconds(60))
        #expect(retries.delay(afterFailures: 1000, jitter: 5) == .seconds(60))
    }
}

@Suite struct TransferRateTests {
    @Test func aRateNeedsTwoTimes() {
        var rate = TransferRate()
        #expect(rate.bytesPerSecond == nil && rate.time(for: 1) == nil)
        rate.record(500, at: .seconds(3))
        #expect(rate.time(for: 1) == nil)
        #expect(rate.time(for: 0) == .zero)
        rate.record(500, at: .seconds(4))
        #expect(rate.time(for: 1) == nil)
    }

    @Test func bytesThereAtTheStartDoNotCount() {
        var rate = TransferRate()
        rate.record(1000, at: .zero)
        rate.record(1100, at: .seconds(1))
        #expect(rate.bytesPerSecond == 100)
        #expect(rate.time(for: 250) == .milliseconds(2500))
    }

    @Test func theRateIsThatOfTheLastSeconds() {
        var rate = TransferRate(window: .seconds(10))
        for second in 0...20 { rate.record(Int64(second) * 1000, at: .seconds(second)) }
        for second in 21...40 {
            rate.record(20_000 + Int64(second - 20) * 10, at: .seconds(second))
        }
        #expect(rate.bytesPerSecond == 10)
        #expect(rate.time(for: 100) == .seconds(10))
    }

    @Test func manyRecordsCostNoMoreThanAFew() {
        var rate = TransferRate(window: .seconds(10))
        for index in 0..<100_000 {
            rate.record(Int64(index) * 10, at: .milliseconds(index))
        }
        #expect(rate.bytesPerSecond.map { abs($0 - 10_000) < 100 } == true)
        #expect(
            Mirror(reflecting: rate).descendant("samples").map { "\($0)".count < 10_000 } == true
        )
    }
}
