import EventTypes

/// The units and the limits of Stripe's currencies, from docs.stripe.com/currencies.
enum StripeCurrencies {
    /// The relation between the minor unit of ISO 4217 and Stripe's unit.
    enum Rule: Hashable, Sendable {
        /// They are the same.
        case same
        /// They are the same, and the last digit is zero: Stripe has two decimals of three.
        case lastDigitZero
        /// ISO 4217 has no decimals, and Stripe still has two, which are zero.
        case timesHundred
        /// ISO 4217 has two decimals, and Stripe has none.
        case byHundred
    }

    /// Returns the rule of a currency.
    ///
    /// - Throws: ``ProcessorAmountError/unsupportedCurrency(_:)``
    static func rule(of currency: Currency) throws(ProcessorAmountError) -> Rule {
        let code = currency.rawValue
        guard Currency.isWellFormed(code), !unsupported.contains(code) else {
            throw .unsupportedCurrency(currency)
        }
        switch code {
        case "ISK", "UGX": return .timesHundred
        case "MGA": return .byHundred
        case "BHD", "JOD", "KWD", "OMR", "TND": return .lastDigitZero
        default: return .same
        }
    }

    /// Returns the greatest amount in a currency, in Stripe's unit: eight digits, twelve for IDR.
    static func maximum(of currency: Currency) -> Int64 {
        currency.rawValue == "IDR" ? 999_999_999_999 : 99_999_999
    }

    /// Returns the least charge in a currency, in Stripe's unit; `nil` where none is published.
    static func minimum(of currency: String) -> Int64? { minima[currency] }

    /// Active codes of ISO 4217 in which Stripe does not charge.
    private static let unsupported: Set<String> = [
        "BTN", "CUP", "ERN", "GHS", "IQD", "IRR", "KPW", "LYD", "MRU", "SDG", "SSP", "STN", "SVC",
        "SYP", "TMT", "VED", "VES", "ZWG",
    ]

    private static let minima: [String: Int64] = [
        "usd": 50, "aed": 200, "aud": 50, "bgn": 100, "brl": 50, "cad": 50, "chf": 50, "czk": 1500,
        "dkk": 250, "eur": 50, "gbp": 30, "hkd": 400, "huf": 17_500, "inr": 50, "jpy": 50,
        "mxn": 1000, "myr": 200, "nok": 300, "nzd": 50, "pln": 200, "ron": 200, "sek": 300,
        "sgd": 50, "thb": 1000,
    ]
}
