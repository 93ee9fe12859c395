import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

/// The page for codes, as a browser has it.
struct CodePage: Sendable {
    let url: URL

    /// The value of a hidden field of a page.
    static func value(of name: String, in page: StoreResponse) throws -> String {
        let parts = page.text.components(separatedBy: "name=\"\(name)\" value=\"")
        let field = try #require(parts.dropFirst().last, "There is no \(name).")
        let escaped = try #require(field.components(separatedBy: "\"").first)
        return escaped.replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
    }

    /// Loads the page.
    func load() async throws -> StoreResponse {
        try await StoreHTTP.send(.GET, url.absoluteString)
    }

    /// Sends the form, as a proxy passes it on that has it from an address.
    func submit(
        _ fields: [String: String],
        from address: String? = nil
    ) async throws -> StoreResponse {
        let form = fields.map { name, value in
            let text = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "\(name)=\(text)"
        }.joined(separator: "&")
        let page = url.absoluteString.prefix { $0 != "?" }
        return try await StoreHTTP.send(
            .POST,
            String(page),
            headers: [("Content-Type", "application/x-www-form-urlencoded")]
                + (address.map { [("X-Forwarded-For", $0)] } ?? []),
            body: Array(form.utf8)
        )
    }

    /// The ticket in the form.
    func ticket() async throws -> String {
        try Self.value(of: "ticket", in: try await load())
    }

    /// Types a code, and returns the fields that confirm what it gives.
    func confirmation(of code: String) async throws -> [String: String] {
        let ticket = try await ticket()
        let asked = try await submit(["ticket": ticket, "code": code])
        let confirmed = try Self.value(of: "confirmed", in: asked)
        return ["ticket": ticket, "code": code, "confirmed": confirmed]
    }
}

extension StoreHarness {
    private static let offer = OfferID(unchecked: "spring")

    /// Sells the club with a code offer: three months for 0.99 USD each.
    func sellOfferOfCodes() async throws {
        let document = try SampleCatalog.offering { terms, club in
            club.codeOffers = [CodeOffer(id: Self.offer, terms: terms)]
        }
        _ = try await administrator.importCatalog(document).value
        try await waitUntilSellable(SampleCatalog.club)
    }

    /// Makes one-time codes.
    func makeCodes(_ count: Int) async throws -> CodeCampaignResponse {
        let request = CodeCampaignRequest(
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.club,
            offerID: Self.offer,
            count: count,
            reason: ActReason(rawValue: "Leaflets")
        )
        return try await administrator.raw(
            .POST,
            urls.payments + Routes.adminCodeCampaigns,
            body: Array(try JSONEncoder().encode(request))
        ).decode(CodeCampaignResponse.self)
    }

    /// The redemptions of a campaign's codes.
    func redemptions(of campaign: CodeCampaign) async throws -> Int {
        try await administrator.raw(
            .GET,
            urls.payments + Routes.adminCodeCampaign(campaign.id)
        ).decode(CodeCampaignResponse.self).campaign.redemptions
    }

    /// Opens the page for codes of an account.
    func openCodePage(of account: String = "ada") async throws -> CodePage {
        let ticket = try await client(account: account).openCodePage().value
        return CodePage(url: try #require(URL(string: urls.payments + ticket.path)))
    }
}
