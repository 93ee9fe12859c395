import Testing
import TestSupport

@testable import Stripe

@Suite struct RateSharesTests {
    /// Counts the calls that lanes make when they ask without a pause.
    private static func calls(
        of lanes: [RateShares.Lane],
        rate: Double,
        endpointRate: Double? = nil,
        seconds: Int
    ) -> [RateShares.Lane: Int] {
        var shares = RateShares(rate: rate, endpointRate: endpointRate)
        var counts: [RateShares.Lane: Int] = [:]
        for tick in 0..<(seconds * 1000) {
            for lane in lanes where shares.take(lane, at: .milliseconds(tick)) == nil {
                counts[lane, default: 0] += 1
            }
        }
        return counts
    }

    @Test func busyLanesGetTheirShares() {
        let counts = Self.calls(of: RateShares.Lane.allCases, rate: 20, seconds: 100)
        for lane in RateShares.Lane.allCases {
            let share = lane == .buyers ? 1200 : 200
            #expect((share - 1...share + 20).contains(counts[lane] ?? 0), "\(lane) \(counts)")
        }
    }

    @Test(arguments: RateShares.Lane.allCases)
    func aLaneAloneGetsTheWholeRate(_ lane: RateShares.Lane) {
        let counts = Self.calls(of: [lane], rate: 20, seconds: 100)
        #expect((1990...2020).contains(counts[lane] ?? 0), "\(counts)")
    }

    @Test(arguments: RateShares.Lane.allCases)
    func aLaneAloneGetsTheRateOfItsEndpoint(_ lane: RateShares.Lane) {
        let counts = Self.calls(of: [lane], rate: 80, endpointRate: 20, seconds: 100)
        #expect((1990...2020).contains(counts[lane] ?? 0), "\(counts)")
    }

    /// Purchases and renewals are the same call at Stripe.
    @Test func buyersAndRenewalsShareTheRateOfTheirEndpoint() {
        let lanes = RateShares.Lane.allCases
        let counts = Self.calls(of: lanes, rate: 80, endpointRate: 20, seconds: 100)
        let (buyers, renewals) = (counts[.buyers] ?? 0, counts[.renewals] ?? 0)
        #expect((1990...2020).contains(buyers + renewals), "\(counts)")
        #expect(buyers >= 1700 && renewals >= 280, "\(counts)")
        for lane in [RateShares.Lane.refunds, .inquiries, .setups] {
            #expect((counts[lane] ?? 0) <= 2020, "\(counts)")
        }
        #expect(counts.values.reduce(0, +) <= 8080, "\(counts)")
    }

    /// Neither waits for the other: buyers have their share, and renewals theirs.
    @Test func tenThousandBuyersAreServedAndRenewalsGoOn() {
        var shares = RateShares(rate: 25)
        var waiting = 10_000
        var renewed = 0
        var tick = 0
        while waiting > 0, tick < 100_000 {
            let time = Duration.milliseconds(tick * 10)
            if shares.take(.buyers, at: time) == nil { waiting -= 1 }
            if shares.take(.renewals, at: time) == nil { renewed += 1 }
            tick += 1
        }
        let seconds = Double(tick) / 100
        // Six tenths of 25 calls are the buyers' own.
        #expect(waiting == 0 && seconds < 10_000 / 15 + 1)
        #expect(Double(renewed) >= seconds * 2.5 - 2)
        #expect(Double(10_000 + renewed) <= (seconds + 1) * 25 + 1)
    }

    /// Refunds have waited for nothing, and buyers have used all that was idle.
    @Test func aLentShareIsGivenBackAtOnce() {
        var shares = RateShares(rate: 20)
        for tick in 0..<10_000 { _ = shares.take(.buyers, at: .milliseconds(tick)) }
        let wait = shares.take(.refunds, at: .milliseconds(10_000))
        #expect(wait == nil)
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func noSecondHasMoreCallsThanTwiceTheRate(seed: RandomSeed) {
        var random = seed.generator()
        let rate = 25.0
        var shares = RateShares(rate: rate)
        var times: [Int] = []
        var now = 0
        for _ in 0..<20_000 {
            now += Int.random(in: 0..<10, using: &random)
            if Int.random(in: 0..<2000, using: &random) == 0 { now += 5000 }
            let lanes = RateShares.Lane.allCases
            let lane = lanes[Int.random(in: 0..<lanes.count, using: &random)]
            if shares.take(lane, at: .milliseconds(now)) == nil { times.append(now) }
        }
        // At most what was saved up, which is a second's calls, and what a second brings.
        var first = 0
        for (last, time) in times.enumerated() {
            while times[first] <= time - 1000 { first += 1 }
            #expect(last - first + 1 <= Int(2 * rate), "at \(time)")
        }
    }

    @Test func theWaitIsLongEnoughAndNotTooLong() throws {
        var shares = RateShares(rate: 10)
        while shares.take(.renewals, at: .zero) == nil {}
        let first = shares.take(.renewals, at: .zero)
        let wait = try #require(first)
        let early = shares.take(.renewals, at: wait - .milliseconds(20))
        let inTime = shares.take(.renewals, at: wait + .milliseconds(1))
        #expect(early != nil)
        #expect(inTime == nil)
    }

    @Test func aClockThatGoesBackGivesNothing() {
        var shares = RateShares(rate: 10)
        while shares.take(.buyers, at: .seconds(10)) == nil {}
        let waits = [1, 10].map { shares.take(.buyers, at: .seconds($0)) }
        #expect(!waits.contains(nil))
    }
}
