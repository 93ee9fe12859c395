import Synchronization
import Testing

@testable import Payments

/// Rests between pages of work on many subscriptions.
@Suite struct PacedPagesTests {
    /// The rests that were taken.
    private final class Rests: Sendable {
        let taken = Mutex<[Duration]>([])

        var pages: PacedPages {
            PacedPages(rest: { work in self.taken.withLock { $0.append(work) } })
        }
    }

    @Test func aRestFollowsEachPageAndNothingElse() async throws {
        let rests = Rests()
        var left = 3
        try await rests.pages.carryOutAll {
            guard left > 0 else { return false }
            left -= 1
            try await Task.sleep(for: .milliseconds(2))
            return true
        }
        let taken = rests.taken.withLock { $0 }
        #expect(taken.count == 3)
        #expect(taken.allSatisfy { $0 >= .milliseconds(2) })
    }

    @Test func othersHaveMostOfTheTimeAndMoreIfTheyNeedIt() {
        let work = Duration.milliseconds(20)
        #expect(PacedPages.rest(after: work, isBusy: false) == .milliseconds(40))
        #expect(PacedPages.rest(after: work, isBusy: true) == .milliseconds(160))
        for isBusy in [false, true] {
            #expect(PacedPages.rest(after: .seconds(9), isBusy: isBusy) == .seconds(1))
        }
    }

    @Test func renewalsAndBuyersAreOthers() {
        let load = RenewalLoad()
        #expect(!load.isBusy())
        load.began(2)
        #expect(load.isBusy())
        load.carriedOut(2)
        #expect(!load.isBusy())
        load.noteBuyers()
        #expect(load.isBusy())
    }

    @Test func aPageThatFailsEndsTheWork() async throws {
        let rests = Rests()
        var (count, hasFailed) = (0, false)
        do {
            try await rests.pages.carryOutAll {
                count += 1
                guard count < 2 else { throw PaymentError(.undecided) }
                return true
            }
        } catch is PaymentError {
            hasFailed = true
        }
        #expect(hasFailed && count == 2)
        #expect(rests.taken.withLock { $0.count } == 1)
    }
}
