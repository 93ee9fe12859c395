/// The reason why a transaction failed.
///
/// Each reason corresponds to an SKError code (spec rule 36).
public enum FailureReason: OpenEnum {
    /// The buyer cancelled. Do not show an error (spec rule 37). `SKError.paymentCancelled`.
    case paymentCancelled
    /// The payment method was declined. `SKError.paymentInvalid`.
    case paymentDeclined
    /// The payment method has insufficient funds. `SKError.paymentInvalid`.
    case insufficientFunds
    /// The approver declined. `SKError.paymentNotAllowed`.
    case approvalDeclined
    /// Nobody approved in time. `SKError.paymentNotAllowed`.
    case approvalExpired
    /// The processor permanently refused this payment. `SKError.unknown`.
    case processorRefused
    /// The account moved to another storefront after the request.
    /// `SKError.storeProductNotAvailable`.
    case storefrontChanged
    /// The account was blocked before the payment was approved. `SKError.paymentNotAllowed`.
    case paymentsNotAllowed
    /// The buyer left to solve a problem first (spec rule 114). Another transaction continues the
    /// payment.
    ///
    /// It is `SKError.unknown`, because StoreKit has no code for it.
    case interrupted
    /// The bank wants to see the buyer, who was away when the store charged for a renewal.
    /// `SKError.paymentInvalid`.
    case buyerMustAct
    /// The charge paid for nothing, because the subscription had changed meanwhile. It is given back.
    ///
    /// It is `SKError.unknown`, because StoreKit has no code for it.
    case subscriptionChanged
    /// A reason that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a reason.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "paymentCancelled": self = .paymentCancelled
        case "paymentDeclined": self = .paymentDeclined
        case "insufficientFunds": self = .insufficientFunds
        case "approvalDeclined": self = .approvalDeclined
        case "approvalExpired": self = .approvalExpired
        case "processorRefused": self = .processorRefused
        case "storefrontChanged": self = .storefrontChanged
        case "paymentsNotAllowed": self = .paymentsNotAllowed
        case "interrupted": self = .interrupted
        case "buyerMustAct": self = .buyerMustAct
        case "subscriptionChanged": self = .subscriptionChanged
        default: self = .unknown(rawValue)
        }
    }

    /// The reason in its wire format.
    public var rawValue: String {
        switch self {
        case .paymentCancelled: "paymentCancelled"
        case .paymentDeclined: "paymentDeclined"
        case .insufficientFunds: "insufficientFunds"
        case .approvalDeclined: "approvalDeclined"
        case .approvalExpired: "approvalExpired"
        case .processorRefused: "processorRefused"
        case .storefrontChanged: "storefrontChanged"
        case .paymentsNotAllowed: "paymentsNotAllowed"
        case .interrupted: "interrupted"
        case .buyerMustAct: "buyerMustAct"
        case .subscriptionChanged: "subscriptionChanged"
        case .unknown(let rawValue): rawValue
        }
    }

    /// The corresponding code of `SKError.Code`.
    public var storeKitErrorCode: Int {
        switch self {
        case .paymentCancelled: 2
        case .paymentDeclined, .insufficientFunds, .buyerMustAct: 3
        case .approvalDeclined, .approvalExpired: 4
        case .storefrontChanged: 5
        case .paymentsNotAllowed: 4
        case .processorRefused, .interrupted, .subscriptionChanged, .unknown: 0
        }
    }
}
