import ReceiptValidation

/// The statuses of `verifyReceipt`, with Apple's numbers.
///
/// 21001 is no longer used. 21006 is for a kind of receipt that this store never issued (rule
/// S244). 21100 to 21199 are for internal data access errors, for which this store answers 21005.
enum VerifyReceiptStatus: Int, Error, Sendable {
    /// The receipt is the store's.
    case valid = 0
    /// The request is not `POST`, or its body is not a JSON object.
    case unreadable = 21000
    /// `receipt-data` is missing, or is not a receipt.
    case malformed = 21002
    /// The receipt was not signed by this store.
    case notAuthenticated = 21003
    /// The shared secret is not the app's.
    case sharedSecret = 21004
    /// The receipt cannot be checked now.
    ///
    /// The same request may succeed later.
    case unavailable = 21005
    /// A receipt of the sandbox was sent to production.
    case sandboxReceipt = 21007
    /// A receipt of production was sent to the sandbox.
    case productionReceipt = 21008
    /// A failure of this service.
    case failed = 21009
    /// None of the receipt's purchases is known: the account no longer exists.
    case accountGone = 21010

    /// Returns the status of a receipt that was refused.
    init(_ refusal: ReceiptRefusal) {
        self =
            switch refusal.rule {
            case .form, .size, .payload: .malformed
            default: .notAuthenticated
            }
    }
}
