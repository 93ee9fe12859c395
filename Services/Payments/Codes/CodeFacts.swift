/// The facts that decide about the codes of a batch.
struct CodeFacts: Sendable {
    /// The codes that are to be redeemed, as far as there are such codes.
    var codes: [CodeDigest: OfferCode] = [:]
    /// The offers of these codes that their accounts have redeemed before.
    var redeemed: Set<RedemptionKey> = []
}
