import EventTypes
import Foundation

/// Sentences of the command line as a page shows them.
///
/// Pure.
enum PlainWords {
    /// A sentence without the command that it advises.
    static func withoutCommands(_ sentence: String) -> String {
        let advice = [": counterfoil ", ": see 'counterfoil", " See 'counterfoil"]
        let starts = advice.compactMap { sentence.range(of: $0)?.lowerBound }
        guard let start = starts.min() else { return sentence }
        let rest = String(sentence[..<start])
        return rest.hasSuffix("?") || rest.hasSuffix(".") ? rest : rest + "."
    }

    /// The first line of a failure; the lines after it tell an operator what to set.
    static func firstLine(_ text: String) -> String {
        text.split(separator: "\n").first.map(String.init) ?? text
    }

    /// A time for people, in UTC and to the millisecond.
    static func moment(_ time: some CustomStringConvertible) -> String {
        String(time.description.replacing("T", with: " ").dropLast())
    }

    /// A time for people, in UTC and to the second.
    static func second(_ time: some CustomStringConvertible) -> String {
        String(time.description.prefix(19)).replacing("T", with: " ")
    }

    /// A scheduled price: the price, its time, and what it means for subscribers.
    static func scheduledPrice(_ change: PriceChange) -> String {
        let words = "\(change.price) from \(second(change.from)) on"
        return change.existingSubscribers == .raise ? words + ", for subscribers too" : words
    }

    /// The type of a product.
    static func type(_ type: ProductType) -> String {
        switch type {
        case .consumable: "consumable"
        case .nonConsumable: "non-consumable"
        case .autoRenewableSubscription: "auto-renewable subscription"
        case .nonRenewingSubscription: "non-renewing subscription"
        case .unknown(let type): type
        }
    }

    /// The length of a period: "1 month", "3 days".
    static func period(_ period: SubscriptionPeriod) -> String {
        let unit =
            switch period.unit {
            case .day: "day"
            case .week: "week"
            case .month: "month"
            case .year: "year"
            }
        return "\(period.value) \(unit)\(period.value == 1 ? "" : "s")"
    }

    /// The query of an address.
    static func query(_ fields: [(name: String, value: String)]) -> String {
        fields.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }.joined(separator: "&")
    }

    /// The path of a product's page.
    static func path(ofProduct id: ProductID) -> String {
        "/products/"
            + (id.rawValue.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "")
    }

    /// The path of an account's page.
    static func path(ofAccount account: String) -> String {
        "/accounts/" + (account.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }
}
