/// The name of a delivery's target: an entry of the delivery plan, and what is reported to it.
///
/// `1:webhook` reports the purchase to entry 1 of the plan, `1:refund:2` its second refund, and
/// `1:refund:2:reversed` that this refund was reversed. No later version of the transaction changes
/// a name. A name that only a newer version of the store knows is kept as it is.
public struct DeliveryTargetName: RawRepresentable, Codable, Hashable, Sendable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The name as text.
    public let rawValue: String

    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Wraps a name that stands in the code.
    public init(stringLiteral name: String) { self.init(rawValue: name) }

    /// Names the target that hears of a purchase.
    ///
    /// - Parameters:
    ///   - entry: The index of the entry in the delivery plan.
    ///   - kind: The kind of the entry.
    /// - Returns: The name.
    public static func purchase(entry: Int, kind: String) -> DeliveryTargetName {
        DeliveryTargetName(rawValue: "\(entry):\(kind)")
    }

    /// Names the target that hears of a refund.
    ///
    /// - Parameters:
    ///   - number: The refund's number.
    ///   - entry: The index of the entry in the delivery plan.
    /// - Returns: The name.
    public static func refund(_ number: Int, entry: Int) -> DeliveryTargetName {
        DeliveryTargetName(rawValue: "\(entry):refund:\(number)")
    }

    /// Names the target that hears that a refund was reversed.
    ///
    /// - Parameters:
    ///   - number: The refund's number.
    ///   - entry: The index of the entry in the delivery plan.
    /// - Returns: The name.
    public static func reversal(ofRefund number: Int, entry: Int) -> DeliveryTargetName {
        DeliveryTargetName(rawValue: "\(entry):refund:\(number):reversed")
    }

    private var parts: [Substring] { rawValue.split(separator: ":") }

    /// Whether a refund or its reversal is reported, and not the purchase.
    public var isOfRefund: Bool { parts.count > 2 && parts[1] == "refund" }

    /// The number of the refund that is reported, or whose reversal is; `nil` for a purchase.
    public var refund: Int? { isOfRefund ? Int(parts[2]) : nil }

    /// Whether it is reported that the refund was reversed.
    public var isReversal: Bool { isOfRefund && parts.last == "reversed" }

    /// Returns the id that a webhook to the target has at every try (`webhook-id`).
    public func webhookID(of id: TransactionID) -> String {
        let name = "delivery_\(id)_\(parts.first ?? "")"
        return refund.map { "\(name)_refund_\($0)\(isReversal ? "_reversed" : "")" } ?? name
    }

    /// The name as text.
    public var description: String { rawValue }
}
