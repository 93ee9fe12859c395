import EventTypes

/// The currencies of large storefronts, for files that have prices without a currency.
enum StorefrontCurrencies {
    private static let codes = [
        "ARE": "AED", "AUS": "AUD", "AUT": "EUR", "BEL": "EUR", "BRA": "BRL", "CAN": "CAD",
        "CHE": "CHF", "CHL": "CLP", "CHN": "CNY", "COL": "COP", "CZE": "CZK", "DEU": "EUR",
        "DNK": "DKK", "EGY": "EGP", "ESP": "EUR", "FIN": "EUR", "FRA": "EUR", "GBR": "GBP",
        "GRC": "EUR", "HKG": "HKD", "HUN": "HUF", "IDN": "IDR", "IND": "INR", "IRL": "EUR",
        "ISR": "ILS", "ITA": "EUR", "JPN": "JPY", "KOR": "KRW", "LUX": "EUR", "MEX": "MXN",
        "MYS": "MYR", "NLD": "EUR", "NOR": "NOK", "NZL": "NZD", "PAK": "PKR", "PER": "PEN",
        "PHL": "PHP", "POL": "PLN", "PRT": "EUR", "SAU": "SAR", "SGP": "SGD", "SWE": "SEK",
        "THA": "THB", "TUR": "TRY", "TWN": "TWD", "USA": "USD", "VNM": "VND", "ZAF": "ZAR",
    ]

    /// The storefront's currency; `nil` if it is not in the table.
    static func currency(of storefront: Storefront) -> Currency? {
        codes[storefront.rawValue].flatMap { Currency(rawValue: $0) }
    }
}
