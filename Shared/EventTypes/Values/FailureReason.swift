/// Why a transaction failed.
///
/// Each has its SKError code (spec rule 36).
public enum FailureReason: OpenEnum {
    /// The buyer called it off; not an error to show (spec rule 37). `SKError.paymentCancelled`.
    case paymentCancelled
    /// The payment method was declined. `SKError.paymentInvalid`.
    case paymentDeclined
    /// The payment method has too little money. `SKError.paymentInvalid`.
    case insufficientFunds
    /// The approver said no. `SKError.paymentNotAllowed`.
    case approvalDeclined
    /// Nobody approved in time. `SKError.paymentNotAllowed`.
    case approvalExpired
    /// The processor cannot serve this payment for good. `SKError.unknown`.
    case processorRefused
    /// The account buys in another storefront since the request. `SKError.storeProductNotAvailable`.
    case storefrontChanged
    /// The account was blocked before it was approved. `SKError.paymentNotAllowed`.
    case paymentsNotAllowed
    /// The buyer left to mend something (spec rule 114); what comes of it is another transaction.
    ///
    /// `SKError.unknown`: StoreKit has no code of its own for it.
    case interrupted
    /// A reason that a newer version of the store knows.
    case unknown(String)

    /// Recognises a reason, or keeps it as unknown.
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
        default: self = .unknown(rawValue)
        }
    }

    /// The reason as it stands on the wire.
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
        case .unknown(let rawValue): rawValue
        }
    }

    /// The code of `SKError.Code` that a client reports.
    public var storeKitErrorCode: Int {
        switch self {
        case .paymentCancelled: 2
        case .paymentDeclined, .insufficientFunds: 3
        case .approvalDeclined, .approvalExpired: 4
        case .storefrontChanged: 5
        case .paymentsNotAllowed: 4
        case .processorRefused, .interrupted, .unknown: 0
        }
    }
}
