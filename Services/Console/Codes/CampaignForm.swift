import EventTypes
import StoreAPI

/// The form that makes offer codes.
///
/// Pure.
enum CampaignForm {
    /// The place to go on from.
    static let back = ConsoleProblem.Back(path: "/codes", words: "Back to the codes")

    /// The campaign that a form asks for.
    ///
    /// - Throws: ``ConsoleProblem`` if a field is missing or cannot be read. The service judges
    ///   the rest.
    static func request(
        in form: FormFields,
        because reason: ActReason
    ) throws(ConsoleProblem) -> CodeCampaignRequest {
        guard let app = form["app"].flatMap({ BundleID(rawValue: $0) }) else {
            throw refusal("The app is \(BundleID.form).")
        }
        guard let product = form["product"].flatMap({ ProductID(rawValue: $0) }) else {
            throw refusal("The product is \(ProductID.form).")
        }
        guard let offer = form["offer"].flatMap({ OfferID(rawValue: $0) }) else {
            throw refusal("The offer is \(OfferID.form).")
        }
        guard let count = form["count"].flatMap({ Int($0) }), count > 0 else {
            throw refusal("The number of codes or redemptions is a whole number from 1.")
        }
        var request = CodeCampaignRequest(
            bundleID: app,
            productID: product,
            offerID: offer,
            count: count,
            reason: reason
        )
        if let word = form["word"], !word.isEmpty { request.word = word }
        if let text = form["expires"], !text.isEmpty {
            guard let time = StoreTime(text) else {
                throw refusal("“\(text)” is not a time in UTC such as 2027-06-30T22:00:00Z.")
            }
            request.expiresAt = time
        }
        return request
    }

    private static func refusal(_ words: String) -> ConsoleProblem {
        ConsoleProblem(400, "Nothing was done: no codes can be made like this", words, back: back)
    }
}
