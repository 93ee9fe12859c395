import EventTypes
import ServiceKit

/// The rates of the tax that prices contain, per storefront, in basis points (hundredths of a
/// percent).
///
/// A storefront that is not listed has a rate of zero.
struct TaxRates: Hashable, Sendable {
    private let rates: [Storefront: Int]

    init(_ rates: [Storefront: Int] = [:]) { self.rates = rates }

    func basisPoints(in storefront: Storefront) -> Int { rates[storefront] ?? 0 }

    /// Reads `TAX_BASIS_POINTS`, for example `DEU=1900,FRA=2000`.
    init(_ reader: inout SettingsReader) {
        let key = "TAX_BASIS_POINTS"
        let entries = reader.list(
            "TAX_BASIS_POINTS",
            default: [:],
            "The tax contained in prices, per storefront in hundredths of a percent: DEU=1900."
        )
        var rates: [Storefront: Int] = [:]
        for (name, value) in entries {
            guard let storefront = Storefront(rawValue: name) else {
                reader.refuse(key, "names \(name), which is not \(Storefront.form)")
                continue
            }
            guard let rate = Int(value), (0...10_000).contains(rate) else {
                reader.refuse(key, "gives \(name) a rate that is not a number from 0 to 10000")
                continue
            }
            rates[storefront] = rate
        }
        self.init(rates)
    }
}
