import EventTypes
import Foundation
import Testing

private func money(_ minorUnits: Int64, _ currency: String) -> Money {
    Money(minorUnits: minorUnits, currency: Currency(unchecked: currency))
}

@Suite struct MoneyTests {
    @Test(arguments: [
        (money(999, "USD"), "9.99 USD", Int64(9990), "9.99"),
        (money(5, "USD"), "0.05 USD", 50, "0.05"),
        (money(0, "EUR"), "0.00 EUR", 0, "0"),
        (money(-120, "EUR"), "-1.20 EUR", -1200, "-1.2"),
        (money(-5, "EUR"), "-0.05 EUR", -50, "-0.05"),
        (money(1500, "JPY"), "1500 JPY", 1_500_000, "1500"),
        (money(-1, "JPY"), "-1 JPY", -1000, "-1"),
        (money(250, "KWD"), "0.250 KWD", 250, "0.25"),
        (money(12_345, "KWD"), "12.345 KWD", 12_345, "12.345"),
    ])
    func isWrittenWithTheDecimalsOfItsCurrency(
        amount: Money,
        description: String,
        milliunits: Int64,
        decimal: String
    ) throws {
        #expect(amount.description == description)
        #expect(amount.milliunits == milliunits)
        #expect(amount.decimal == Decimal(string: decimal))
    }

    @Test(arguments: [("JPY", 0), ("CLP", 0), ("USD", 2), ("EUR", 2), ("KWD", 3), ("TND", 3)])
    func currenciesHaveTheirDecimals(currency: String, exponent: Int) throws {
        let currency = try #require(Currency(rawValue: currency))
        #expect(currency.exponent == exponent)
    }

    @Test(arguments: ["", "usd", "ZZZ", "EURO", "DEM", "US", "🇺🇸"])
    func whatIsNoCurrencyIsRefused(code: String) {
        #expect(Currency(rawValue: code) == nil)
    }

    @Test func multiplyingKeepsTheCurrencyAndReportsOverflow() {
        #expect(money(99, "USD").multiplied(by: 3) == money(297, "USD"))
        #expect(money(99, "USD").multiplied(by: 0) == money(0, "USD"))
        #expect(money(.max, "USD").multiplied(by: 1) == money(.max, "USD"))
        #expect(money(.max / 2 + 1, "USD").multiplied(by: 2) == nil)
        #expect(money(.min, "USD").multiplied(by: -1) == nil)
    }

    @Test func addingTellsOverflow() {
        #expect(money(1, "JPY").adding(money(-1, "JPY")) == .zero(Currency(unchecked: "JPY")))
        #expect(money(.max, "JPY").adding(money(1, "JPY")) == nil)
        #expect(money(.min, "JPY").adding(money(-1, "JPY")) == nil)
    }

    @Test func theNegatedAmountAddsUpToZero() {
        let amount = money(12_345, "KWD")
        #expect(amount.adding(amount.negated)?.isZero == true)
    }

    @Test func zeroOfOneCurrencyIsNotZeroOfAnother() {
        #expect(money(0, "USD") != money(0, "EUR"))
    }

    @Test(arguments: [
        #"{"minorUnits": 9.99, "currency": "USD"}"#,
        #"{"minorUnits": "999", "currency": "USD"}"#,
        #"{"minorUnits": 9223372036854775808, "currency": "USD"}"#,
        #"{"minorUnits": 999, "currency": "usd"}"#,
        #"{"minorUnits": 999}"#,
        #"{"currency": "USD"}"#,
    ])
    func whatIsNoExactAmountIsRefused(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Money.self, from: Data(json.utf8))
        }
    }

    @Test func readsBackFromJSON() throws {
        for amount in [money(.max, "USD"), money(-1, "JPY"), money(0, "KWD")] {
            let json = try JSONEncoder().encode(amount)
            #expect(try JSONDecoder().decode(Money.self, from: json) == amount)
        }
    }
}
