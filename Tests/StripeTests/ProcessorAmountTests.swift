import EventTypes
import Testing
import TestSupport

@testable import Stripe

private func money(_ minorUnits: Int64, _ code: String) -> Money {
    Money(minorUnits: minorUnits, currency: Currency(unchecked: code))
}

@Suite struct ProcessorAmountTests {
    /// Every code of three capitals that is a currency.
    private static let currencies: [Currency] = {
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z"))
        var found: [Currency] = []
        for first in letters {
            for second in letters {
                for third in letters {
                    let code = String(decoding: [first, second, third], as: UTF8.self)
                    if let currency = Currency(rawValue: code) { found.append(currency) }
                }
            }
        }
        return found
    }()

    @Test(
        arguments: [
            (money(999, "USD"), Int64(999)), (money(1500, "JPY"), 1500),
            (money(300, "ISK"), 30_000),
            (money(5000, "UGX"), 500_000), (money(20_000, "MGA"), 200), (money(5120, "KWD"), 5120),
            (money(17_500, "HUF"), 17_500), (money(1, "EUR"), 1),
            (money(99_999_999, "USD"), 99_999_999),
            (money(999_999_999_999, "IDR"), 999_999_999_999),
        ] as [(Money, Int64)]
    )
    func anAmountHasStripesUnit(_ money: Money, wire: Int64) throws {
        let amount = try ProcessorAmount(money)
        #expect(amount.wire == wire)
        #expect(amount.currency == money.currency.rawValue.lowercased())
        #expect(try amount.money() == money)
    }

    @Test(arguments: [
        (money(5124, "KWD"), ProcessorAmountError.notDivisible(money(5124, "KWD"), by: 10)),
        (money(1050, "MGA"), .notDivisible(money(1050, "MGA"), by: 100)),
        (money(0, "USD"), .notPositive(money(0, "USD"))),
        (money(-1, "USD"), .notPositive(money(-1, "USD"))),
        (money(100_000_000, "USD"), .tooLarge(money(100_000_000, "USD"))),
        (money(1_000_000_000_000, "IDR"), .tooLarge(money(1_000_000_000_000, "IDR"))),
        (money(.max, "ISK"), .tooLarge(money(.max, "ISK"))),
        (money(1_000_000, "ISK"), .tooLarge(money(1_000_000, "ISK"))),
        (money(1000, "IQD"), .unsupportedCurrency(Currency(unchecked: "IQD"))),
        (money(1000, "ZZZ"), .unsupportedCurrency(Currency(unchecked: "ZZZ"))),
    ])
    func anAmountThatStripeCannotMoveIsRefused(_ money: Money, _ error: ProcessorAmountError) {
        #expect(throws: error) { try ProcessorAmount(money) }
        #expect(error.description.hasSuffix("."))
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func anAmountIsTheSameThereAndBackOrRefused(seed: RandomSeed) throws {
        var random = seed.generator()
        #expect(Self.currencies.count > 150)
        for currency in Self.currencies {
            var accepted = 0
            let most: Int64 = currency.rawValue == "IDR" ? 999_999_999_999 : 99_999_999
            for _ in 0..<200 {
                let minorUnits = Int64.random(in: -1000...120_000_000, using: &random)
                let money = Money(minorUnits: minorUnits, currency: currency)
                guard let amount = try? ProcessorAmount(money) else { continue }
                accepted += 1
                #expect(try amount.money() == money)
                #expect((1...most).contains(amount.wire))
            }
            // A round amount tells a currency that is refused from amounts that are.
            let round = Money(minorUnits: 10_000, currency: currency)
            let isSupported = (try? ProcessorAmount(round)) != nil
            #expect(isSupported || accepted == 0, "\(currency)")
        }
    }

    @Test(arguments: [("usd", 49, false), ("usd", 50, true), ("jpy", 49, false), ("kwd", 1, true)])
    func aChargeBelowTheLeastIsRefused(currency: String, wire: Int64, isEnough: Bool) {
        let amount = ProcessorAmount(wire: wire, currency: currency)
        let isTaken = (try? amount.checkMinimum()) != nil
        #expect(isTaken == isEnough)
    }

    @Test(arguments: [("isk", 150), ("ugx", 1), ("xyz", 100)])
    func anAnswerThatFitsNoAmountIsRefused(currency: String, wire: Int64) {
        #expect(throws: ProcessorAmountError.self) {
            try ProcessorAmount(wire: wire, currency: currency).money()
        }
    }
}
