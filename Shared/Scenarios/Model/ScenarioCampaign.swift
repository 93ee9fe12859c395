public import StoreAPI

/// Codes that an administrator makes.
public struct ScenarioCampaign: Hashable, Sendable, CustomStringConvertible {
    /// The name by which later steps call it.
    ///
    /// A custom code is this word with an ending that no other run has.
    public let name: String
    /// The product's name.
    public let product: String
    /// The name of the product's offer.
    public let offer: String
    /// The number of one-time codes, or of the redemptions of a custom code.
    public let count: Int
    /// Whether there are one-time codes in place of a custom one.
    public let isOneTime: Bool

    /// The step in words.
    public var description: String {
        (isOneTime
            ? "make \(count) one-time codes '\(name)'"
            : "make the code '\(name)', good for \(count)")
            + ", with the offer '\(offer)' of '\(product)'"
    }
}

/// A code that the buyer types on the store's page.
public struct ScenarioRedemption: Hashable, Sendable, CustomStringConvertible {
    /// The name by which later steps call the payment.
    public let name: String
    /// The name of the code's campaign.
    public let campaign: String
    /// The number of the code among those of the campaign, from 1.
    public let number: Int
    /// The product's name.
    public let product: String
    /// The device whose app opens the page.
    public let device: String
    /// The way in which the sandbox's processor answers a charge.
    public let method: SandboxPaymentMethod
    /// Words with which the page has to refuse the code; `nil` if it has to be redeemed.
    public let refused: String?

    /// The step in words.
    public var description: String {
        "redeem " + (number == 1 ? "" : "number \(number) of ")
            + "'\(campaign)' on '\(device)' as '\(name)'"
            + (method == .success ? "" : " by \(method.rawValue)")
            + (refused.map { ", which is refused with '\($0)'" } ?? "")
    }
}
