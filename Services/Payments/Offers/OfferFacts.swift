import EventTypes

/// The facts that decide about the signed offers and the offer codes of a batch.
struct OfferFacts: Sendable {
    /// The present by the clock of machines, as the merchants' servers have it.
    var time: MachineTime
    /// The nonces that were used before.
    var used: Set<OfferNonce> = []
    /// The accounts of the transactions that offers name.
    var owners: [TransactionID: AccountKey] = [:]
    /// The transactions of introductory offers that are neither paid nor failed.
    var unpaidIntroductions: Set<TransactionID> = []
    /// The codes that are to be redeemed.
    var codes: [CodeDigest: OfferCode] = [:]
    /// The offers that the accounts have redeemed with codes.
    var redeemed: Set<RedemptionKey> = []

    /// Notes that a payment redeems a code.
    mutating func redeem(_ digest: CodeDigest, by account: AccountKey) {
        guard let code = codes[digest] else { return }
        codes[digest]?.redemptions += 1
        redeemed.insert(
            RedemptionKey(account: account, productID: code.productID, offerID: code.offerID)
        )
    }

    /// The reason why a signature cannot be used by an account's payment; `nil` if it can.
    func refusal(of signed: SignedOffer, by account: AccountKey) -> PaymentRefusal? {
        if let fault = signed.fault { return fault }
        if let id = signed.transactionID, owners[id] != account {
            return .offerSignatureInvalid(.customer)
        }
        let age = time.duration(since: signed.validFrom)
        guard age <= SignedOffer.lifetime, age >= .zero - SignedOffer.clockTolerance else {
            return .offerExpired
        }
        return used.contains(signed.nonce) ? .offerNonceUsed : nil
    }
}
