import ReceiptValidation

/// The statuses of `verifyReceipt`, by Apple's numbers.
///
/// 21001 is no longer used, 21006 is for receipts of a form that this store never made, and 21100 to
/// 21199 are for data away from the database, which here is 21005.
enum VerifyReceiptStatus: Int, Error, Sendable {
    /// The receipt is the store's.
    case valid = 0
    /// The request is not `POST`, or its body is no JSON object.
    case unreadable = 21000
    /// `receipt-data` is missing, or no receipt.
    case malformed = 21002
    /// The receipt was not signed by this store.
    case notAuthenticated = 21003
    /// The shared secret is not the app's.
    case sharedSecret = 21004
    /// The receipt cannot be looked at now; the same request may succeed later.
    case unavailable = 21005
    /// A receipt of the sandbox was sent to production.
    case sandboxReceipt = 21007
    /// A receipt of production was sent to the sandbox.
    case productionReceipt = 21008
    /// A failure of this service.
    case failed = 21009
    /// None of the receipt's purchases is known: the account is gone.
    case accountGone = 21010

    /// The status of a receipt that is not believed.
    init(_ refusal: ReceiptRefusal) {
        self =
            switch refusal.rule {
            case .form, .size, .payload: .malformed
            default: .notAuthenticated
            }
    }
}
