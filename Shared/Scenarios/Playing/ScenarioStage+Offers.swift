import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import StoreAPI

/// Offers that are signed, and codes.
extension ScenarioStage {
    /// Has the merchant's server sign the promotional offer of a payment; `nil` if it has none.
    func discount(for purchase: ScenarioPurchase) async throws -> SKPaymentDiscount? {
        guard let offer = purchase.offer, offer.kind == .promotional else { return nil }
        guard let sign = connection.store.signOffer else {
            throw StepFailure("no key of the merchant's server is here")
        }
        return try await sign(offer.name, cast.product(purchase.product))
    }

    /// Makes the codes of a campaign.
    ///
    /// A custom code is used once in a store, so its word has an ending that no other run has.
    func makeCodes(of campaign: ScenarioCampaign) async throws -> [String] {
        let word = campaign.name.replacing("_", with: "") + suffix
        let request = CodeCampaignRequest(
            bundleID: connection.store.bundleID,
            productID: try cast.product(campaign.product),
            offerID: OfferID(unchecked: campaign.offer),
            count: campaign.count,
            word: campaign.isOneTime ? nil : word,
            reason: ActReason(rawValue: "The scenario says so.")
        )
        guard let answer = try await ask(Routes.adminCodeCampaigns, request, refused: nil) else {
            return []
        }
        let made = try JSONDecoder().decode(CodeCampaignResponse.self, from: Data(answer))
        return campaign.isOneTime ? made.codes ?? [] : [word]
    }

    /// Types a code on the page that the device's app opens, and confirms what it gives.
    ///
    /// - Returns: The payment that has come into the account's queue; `nil` if the page has refused the
    ///   code as expected.
    func redeem(_ redemption: ScenarioRedemption) async throws -> PlayedPayment? {
        let made = codes[redemption.campaign] ?? []
        guard made.indices.contains(redemption.number - 1) else {
            throw StepFailure("'\(redemption.campaign)' has only \(made.count) codes")
        }
        let device = try cast.device(redemption.device)
        let product = try cast.product(redemption.product)
        let known = Set(try await queued(product, by: device.account))
        let page = try await device.openCodePage(payingBy: redemption.method)
        let refusal = try await connection.redeem(made[redemption.number - 1], on: page)
        if let words = redemption.refused {
            guard let refusal else {
                throw StepFailure("redeemed, and had to be refused with '\(words)'")
            }
            guard refusal.contains(words) else {
                throw StepFailure("refused with '\(refusal)', and had to be with '\(words)'")
            }
            return nil
        }
        if let refusal { throw StepFailure("refused with '\(refusal)'") }
        let id = try await connection.wait.until("what the code gives to arrive") {
            try await queued(product, by: device.account).first { !known.contains($0) }
        }
        return PlayedPayment(name: redemption.name, account: device.account, id: id)
    }

    /// The payments for a product in an account's queue that no other step has made.
    private func queued(
        _ product: ProductID,
        by account: AccountID
    ) async throws -> [TransactionID] {
        try await connection.send(
            .GET,
            connection.store.addresses.fulfillment + Routes.queueTransactions,
            by: .account(account),
            as: QueueResponse.self
        ).transactions.map(\.transaction).filter {
            $0.productID == product && $0.reason != .renewal && cast.name(of: $0.id) == nil
        }.map(\.id)
    }
}

extension ScenarioConnection {
    /// Types a code on the store's page, and confirms what it gives.
    ///
    /// - Returns: The sentence with which the page refuses the code; `nil` if it was redeemed.
    fileprivate func redeem(_ code: String, on page: String) async throws -> String? {
        let parts = page.components(separatedBy: "?ticket=")
        guard parts.count == 2 else { throw StepFailure("the page for codes has no ticket") }
        var fields = ["ticket": parts[1], "code": code]
        let asked = try await submit(fields, to: parts[0])
        guard let terms = Self.text(in: asked, from: "name=\"confirmed\" value=\"", to: "\"") else {
            return Self.refusal(in: asked)
        }
        fields["confirmed"] = terms.replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
        let answer = try await submit(fields, to: parts[0])
        return answer.contains("Your code was redeemed") ? nil : Self.refusal(in: answer)
    }

    /// The sentence of a page that refuses a code, or its title.
    private static func refusal(in page: String) -> String {
        text(in: page, from: "<p role=\"alert\">", to: "</p>")
            ?? text(in: page, from: "<h1>", to: "</h1>") ?? "no page"
    }

    private static func text(in page: String, from begin: String, to end: String) -> String? {
        page.components(separatedBy: begin).dropFirst().first?.components(separatedBy: end).first
    }
}
