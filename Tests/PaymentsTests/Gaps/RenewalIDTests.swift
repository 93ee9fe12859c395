import EventTypes
import TestSupport
import Testing

@testable import Payments

/// The ids of tries to renew, by which a restored store finds them at the processor.
@Suite struct RenewalIDTests {
    private func id(
        _ subscription: Int64 = 217_000_000_000_0001,
        period: Int = 2,
        epoch: Int = 1,
        attempt: Int = 1
    ) throws -> AttemptID {
        let key = RenewalChargeKey(
            subscriptionID: TransactionID(number: subscription),
            period: period,
            epoch: epoch,
            attempt: attempt
        )
        return try #require(AttemptID(of: key))
    }

    @Test func aTryHasTheSameIDWheneverItIsMade() throws {
        let (one, other) = (try id(), try id())
        #expect(one == other)
        let id = try id(0x0123_4567_89AB_CDE, period: 3, epoch: 2, attempt: 5)
        #expect("\(id)" == "01234567-89ab-8cde-8000-800003000005")
    }

    @Test func noTwoTriesShareAnID() throws {
        var ids: Set<AttemptID> = []
        var count = 0
        for subscription in [1, 4096, 4097, 999_999_999_999_999_999] as [Int64] {
            for period in [1, 2, 300, 4_000_000] {
                for epoch in [0, 1, 65_535] {
                    for attempt in [1, 2, 256, 65_536] {
                        let id = try id(
                            subscription,
                            period: period,
                            epoch: epoch,
                            attempt: attempt
                        )
                        ids.insert(id)
                        count += 1
                        #expect(id.bytes[6] >> 4 == 8 && id.bytes[8] >> 6 == 2, "a UUID")
                    }
                }
            }
        }
        #expect(ids.count == count)
    }

    @Test func onlyLaterTriesOfThePeriodAreFoundByATry() throws {
        let second = try id(attempt: 2)
        for attempt in [2, 3, 255, 256, 70_000] {
            let later = try id(attempt: attempt)
            #expect(second.reaches(later))
        }
        let first = try id(attempt: 1)
        #expect(!second.reaches(first))
        let others = [try id(period: 3), try id(epoch: 2), try id(217_000_000_000_0002)]
        for other in others {
            #expect(!second.reaches(other) && !other.reaches(second))
        }
        #expect(second.reaches(second.lastOfPeriod))
        #expect(!second.reaches(IDSource.random.attempt(at: startTime)))
    }

    @Test func whatDoesNotFitHasNoSuchID() {
        for (period, epoch, attempt) in [(1 << 22, 1, 1), (1, 1 << 16, 1), (1, 1, 1 << 24)] {
            let key = RenewalChargeKey(
                subscriptionID: TransactionID(number: 1),
                period: period,
                epoch: epoch,
                attempt: attempt
            )
            #expect(AttemptID(of: key) == nil)
        }
    }
}
