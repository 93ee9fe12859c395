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
    /// - Parameters:
    ///   - store: The store.
    ///   - redemptions: The number of times that it can be redeemed.
    /// - Throws: ``HarnessError`` if the store does not make it in time; ``StoreFault`` if it never will.
    static func make(in store: StoreHarness, redemptions: Int = 100_000) async throws {
        let request = CodeCampaignRequest(
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.club,
            offerID: offer,
            count: redemptions,
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
            // An answer without a problem may come from a proxy, and has its status.
            let code = (try? answer.decode(Problem.self))?.code
            return try isThere(after: answer.status, code: code) ? () : nil
        }
    }

    /// Whether the code is there after an answer; if not, the offer may still be on its way.
    ///
    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - code: The code of its problem, if it has one.
    /// - Returns: Whether it is there.
    /// - Throws: ``StoreFault`` if asking again changes nothing.
    static func isThere(after status: Int, code: String?) throws -> Bool {
        switch (status, code) {
        case (201, _), (409, "code_taken"?): return true
        case (400, "offer_unknown"?), (429, _), (502...504, _): return false
        default:
            throw StoreFault("The code \(word) was refused with \(status) \(code ?? "").")
        }
    }
}
