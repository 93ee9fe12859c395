import EventTypes
import OperatorCore

/// The form of a product's page, with every text exactly as it was written.
///
/// Pure.
struct ProductForm: Hashable, Sendable {
    /// The fields by which a price in another storefront is added.
    struct Addition: Hashable, Sendable {
        var storefront = ""
        var amount = ""
        var currency = ""
    }

    /// The version of the product that the form shows.
    var version: Int
    var isOnSale: Bool
    /// The price in each storefront, without the currency; empty where it is not sold any more.
    var prices: [String: String]
    /// The price that was shown in each storefront, by which a price that was changed is recognized.
    let shownPrices: [String: String]
    /// The amount of each unit that one purchase credits.
    var credits: [String: String]
    /// The title in each language.
    var titles: [String: String]
    /// The description in each language.
    var descriptions: [String: String]
    var addition = Addition()

    /// The form of a product as it is.
    init(_ product: Product) {
        version = product.version
        isOnSale = product.isOnSale
        prices = Dictionary(
            uniqueKeysWithValues: product.prices.map { ($0.rawValue, Self.amount($1)) }
        )
        shownPrices = prices
        credits = product.credits.mapValues { "\($0)" }
        let texts = product.localizations
        titles = Dictionary(uniqueKeysWithValues: texts.map { ($0.rawValue, $1.title) })
        descriptions = Dictionary(uniqueKeysWithValues: texts.map { ($0.rawValue, $1.description) })
    }

    /// Reads a form that was sent.
    ///
    /// - Returns: `nil` if it lacks the version.
    init?(_ form: FormFields) {
        guard let version = form["version"].flatMap({ Int($0) }) else { return nil }
        self.version = version
        isOnSale = form["sale"] == "yes"
        prices = form.values(after: "price.")
        shownPrices = form.values(after: "was.price.")
        credits = form.values(after: "credit.")
        titles = form.values(after: "title.")
        descriptions = form.values(after: "description.")
        addition = Addition(
            storefront: form["new.storefront"] ?? "",
            amount: form["new.amount"] ?? "",
            currency: form["new.currency"] ?? ""
        )
    }

    /// All fields by their names, as a browser sends them.
    var fields: [(name: String, value: String)] {
        var fields = [("version", "\(version)")]
        if isOnSale { fields.append(("sale", "yes")) }
        fields += prices.sorted { $0.key < $1.key }.map { ("price.\($0.key)", $0.value) }
        fields += shownPrices.sorted { $0.key < $1.key }.map { ("was.price.\($0.key)", $0.value) }
        fields += credits.sorted { $0.key < $1.key }.map { ("credit.\($0.key)", $0.value) }
        fields += titles.sorted { $0.key < $1.key }.map { ("title.\($0.key)", $0.value) }
        fields += descriptions.sorted { $0.key < $1.key }.map {
            ("description.\($0.key)", $0.value)
        }
        fields += [
            ("new.storefront", addition.storefront), ("new.amount", addition.amount),
            ("new.currency", addition.currency),
        ]
        return fields
    }

    /// The price that somebody wrote for a storefront; `nil` if they left the one that was shown.
    func writtenPrice(in storefront: Storefront) -> String? {
        let name = storefront.rawValue
        return prices[name] == shownPrices[name] ? nil : prices[name]
    }

    /// Whether the form was made for the product as it is now.
    ///
    /// The version alone does not say it: a scheduled price comes into force without a new version.
    func isCurrent(for product: Product) -> Bool {
        version == product.version
            && product.prices.allSatisfy { storefront, price in
                guard writtenPrice(in: storefront) != nil else { return true }
                let shown = shownPrices[storefront.rawValue]
                return shown == nil || shown == Self.amount(price)
            }
    }

    /// The changes that the form wishes for a product, or what is wrong in it.
    ///
    /// A price that nobody changed stays as it is now, also if a scheduled one has come into force since
    /// the form was opened.
    func wish(for product: Product) -> (wish: ProductWish, problems: [String]) {
        var wish = ProductWish(product)
        var problems: [String] = []
        wish.isOnSale = isOnSale
        for (storefront, price) in product.prices {
            guard let text = writtenPrice(in: storefront) else { continue }
            if text.isEmpty {
                wish.prices[storefront] = nil
            } else if let money = Money(decimal: text, currency: price.currency) {
                wish.prices[storefront] = money
            } else {
                problems.append("“\(text)” is not a price in \(price.currency) for \(storefront).")
            }
        }
        add(to: &wish, &problems)
        for unit in product.credits.keys {
            guard let text = credits[unit] else { continue }
            if let amount = Int64(text), amount > 0 {
                wish.credits[unit] = amount
            } else {
                problems.append("“\(text)” is not a number of \(unit).")
            }
        }
        for (language, text) in product.localizations {
            let name = language.rawValue
            let title = titles[name] ?? text.title
            if title.isEmpty { problems.append("The title in \(name) is missing.") }
            wish.texts[language] = ProductText(
                title: title,
                description: descriptions[name] ?? text.description
            )
        }
        return (wish, problems.sorted())
    }

    private func add(to wish: inout ProductWish, _ problems: inout [String]) {
        guard addition != Addition() else { return }
        guard let storefront = Storefront(rawValue: addition.storefront.uppercased()),
            let currency = Currency(rawValue: addition.currency.uppercased()),
            let price = Money(decimal: addition.amount, currency: currency)
        else {
            problems.append(
                "A new price needs a storefront such as DEU, an amount such as 11.99, and a currency "
                    + "such as EUR."
            )
            return
        }
        guard wish.prices[storefront] == nil else {
            problems.append("There is a price in \(storefront) already.")
            return
        }
        wish.prices[storefront] = price
    }

    /// An amount without its currency.
    static func amount(_ money: Money) -> String {
        String(money.description.prefix { $0 != " " })
    }
}
