import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StoreHarness

/// A custom code for the sample catalog's offer, so that there is something to redeem.
enum SampleCodes {
    /// The word that buyers type.
    static let word = "WELCOME"
    /// The offer, one of the club's.
    static let offer = OfferID(unchecked: "first-month")

    /// Makes the campaign of the code.
    ///
    /// A store that has it already keeps it, with its redemptions.
    ///
    /// - Parameter store: The store.
    /// - Throws: ``HarnessError`` if the store does not make it in time.
    static func make(in store: StoreHarness) async throws {
        let request = CodeCampaignRequest(
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.club,
            offerID: offer,
            count: 100_000,
            word: word,
            reason: ActReason(rawValue: "To try out codes")
        )
        let body = Array(try JSONEncoder().encode(request))
        // The offer reaches `payments` by an event.
        try await eventually(within: .seconds(60), "payments to make the code \(word)") {
            let answer = try await store.administrator.raw(
                .POST,
                store.urls.payments + Routes.adminCodeCampaigns,
                body: body
            )
            // 409 says that the word is there already.
            return answer.status == 201 || answer.status == 409 ? () : nil
        }
    }
}
