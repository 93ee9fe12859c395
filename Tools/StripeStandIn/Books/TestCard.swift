/// The behaviour of a card, by the names that Stripe has for its test cards.
///
/// Names that Stripe does not have are of behaviour that no test card of Stripe's shows; they begin
/// with `pm_standIn`.
enum TestCard: Hashable, Sendable {
    case succeeds
    case declined(code: String, declineCode: String?)
    /// The bank asks the buyer to confirm every payment.
    case needsAction
    /// The buyer's bank confirms payments that were set up while the buyer was present.
    case needsActionUnlessSetUp
    /// The payment is made later, or fails later.
    case processing
    /// The first calls to pay with it meet a fault; then it pays.
    case troubled(StandInFault.Kind, times: Int)
    /// It pays while its buyer is there. Otherwise it is declined, always or some times before it pays.
    case declinedAway(times: Int?)
    /// The charge is disputed as soon as it is made.
    case disputed
    /// The refund succeeds, and fails later.
    case refundFails
    /// The refund waits, and succeeds later.
    case refundWaits

    /// Returns `nil` if there is no such card.
    init?(name: String) {
        switch name {
        case "pm_card_visa", "pm_card_mastercard", "pm_card_amex", "pm_card_visa_debit":
            self = .succeeds
        case "pm_card_threeDSecure2Required", "pm_card_authenticationRequired":
            self = .needsAction
        case "pm_card_authenticationRequiredOnSetup": self = .needsActionUnlessSetUp
        case "pm_standInProcessing": self = .processing
        case "pm_standInDeclinedAway": self = .declinedAway(times: nil)
        case "pm_standInRecovers": self = .declinedAway(times: 4)
        case "pm_card_createDispute": self = .disputed
        case "pm_card_refundFail": self = .refundFails
        case "pm_card_pendingRefund": self = .refundWaits
        default:
            if let (kind, times) = Self.troubles[name] {
                self = .troubled(kind, times: times)
                return
            }
            guard let decline = Self.declines[name] else { return nil }
            self = .declined(code: decline.0, declineCode: decline.1)
        }
    }

    private static let troubles: [String: (StandInFault.Kind, times: Int)] = [
        "pm_standInLostBefore": (.lostBefore, 1), "pm_standInLostAfter": (.lostAfter, 1),
        "pm_standInSlow": (.slow(.milliseconds(500)), 1), "pm_standInDown": (.down, 2),
        "pm_standInRateLimit": (.rateLimit, 2),
    ]

    private static let declines: [String: (String, String?)] = {
        let declined = "card_declined"
        return [
            "pm_card_chargeDeclined": (declined, "generic_decline"),
            "pm_card_visa_chargeDeclined": (declined, "generic_decline"),
            "pm_card_chargeCustomerFail": (declined, "generic_decline"),
            "pm_card_visa_chargeDeclinedInsufficientFunds": (declined, "insufficient_funds"),
            "pm_card_chargeDeclinedInsufficientFunds": (declined, "insufficient_funds"),
            "pm_card_visa_chargeDeclinedLostCard": (declined, "lost_card"),
            "pm_card_visa_chargeDeclinedStolenCard": (declined, "stolen_card"),
            "pm_card_chargeDeclinedFraudulent": (declined, "fraudulent"),
            "pm_card_chargeDeclinedExpiredCard": ("expired_card", nil),
            "pm_card_chargeDeclinedIncorrectCvc": ("incorrect_cvc", nil),
            "pm_card_chargeDeclinedProcessingError": ("processing_error", nil),
        ]
    }()
}
