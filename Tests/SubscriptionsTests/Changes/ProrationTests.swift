import EventTypes
import Subscriptions
import Testing

/// The refund of the unused part of a period (rule S102).
@Suite struct ProrationTests {
    private func period(_ price: Int64, refunded: Int64 = 0) throws -> PaidPeriod {
        var story = StoryTeller()
        story.buy(plan("any", level: 1, price: price), at("2026-04-01"))
        var period = try #require(story.subscription?.period)
        period.refunded = usd(refunded)
        return period
    }

    @Test(arguments: [
        ("2026-03-31", 3000), ("2026-04-01", 3000), ("2026-04-16", 1500), ("2026-04-30", 100),
        ("2026-04-30T23:59:59", 0), ("2026-05-01", 0), ("2026-06-01", 0),
    ])
    func theRestIsRoundedDown(time: String, refund: Int64) throws {
        #expect(Proration.refund(of: try period(3000), at: at(time)) == usd(refund))
    }

    @Test func itIsNeverMoreThanWhatIsLeft() throws {
        #expect(
            Proration.refund(of: try period(3000, refunded: 2000), at: at("2026-04-02"))
                == usd(1000)
        )
        #expect(Proration.refund(of: try period(0), at: at("2026-04-02")) == usd(0))
    }

    @Test func theLargestPriceDoesNotOverflow() throws {
        let whole = try period(.max)
        #expect(Proration.refund(of: whole, at: at("2026-04-01")) == usd(.max))
        #expect(Proration.refund(of: whole, at: at("2026-04-16")) == usd(.max / 2))
    }

    @Test func theRefundNeverGrows() throws {
        let period = try period(997)
        var last = Int64(997)
        for hour in Int64(0)...720 {
            let time = at("2026-04-01").advanced(by: .hours(hour))
            let refund = Proration.refund(of: period, at: time).minorUnits
            #expect((0...last).contains(refund))
            last = refund
        }
    }
}
