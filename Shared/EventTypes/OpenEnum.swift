/// A set of named values that may grow: a value this version does not know is kept as it came,
/// not refused (spec rule 41).
public protocol OpenEnum: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The value as it stands on the wire.
    var rawValue: String { get }
    /// Recognises a value, or keeps it as unknown.
    init(rawValue: String)
}

extension OpenEnum {
    /// The value as it stands on the wire.
    public var description: String { rawValue }

    /// Reads the value from a JSON string, whatever it is.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the value as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// The four types of product (spec rule 93).
public enum ProductType: OpenEnum {
    /// Bought again and again; each purchase is used up.
    case consumable
    /// Bought once, owned for good.
    case nonConsumable
    /// A service for a period that renews by itself.
    case autoRenewableSubscription
    /// A service for a period that does not renew by itself.
    case nonRenewingSubscription
    /// A type that a newer version of the store knows.
    case unknown(String)

    /// Recognises a product type, or keeps it as unknown.
    public init(rawValue: String) {
        switch rawValue {
        case "consumable": self = .consumable
        case "nonConsumable": self = .nonConsumable
        case "autoRenewableSubscription": self = .autoRenewableSubscription
        case "nonRenewingSubscription": self = .nonRenewingSubscription
        default: self = .unknown(rawValue)
        }
    }

    /// The type as it stands on the wire.
    public var rawValue: String {
        switch self {
        case .consumable: "consumable"
        case .nonConsumable: "nonConsumable"
        case .autoRenewableSubscription: "autoRenewableSubscription"
        case .nonRenewingSubscription: "nonRenewingSubscription"
        case .unknown(let rawValue): rawValue
        }
    }
}

/// The five states of a transaction (spec rule 33).
public enum TransactionState: OpenEnum {
    /// Being processed by the store; never finishable.
    case purchasing
    /// Paid; the buyer gets the product.
    case purchased
    /// Ended without a charge.
    case failed
    /// A purchase of old, delivered again without a charge.
    case restored
    /// Waiting for somebody's approval (Ask to Buy).
    case deferred
    /// A state that a newer version of the store knows. It is never finished.
    case unknown(String)

    /// Recognises a state, or keeps it as unknown.
    public init(rawValue: String) {
        switch rawValue {
        case "purchasing": self = .purchasing
        case "purchased": self = .purchased
        case "failed": self = .failed
        case "restored": self = .restored
        case "deferred": self = .deferred
        default: self = .unknown(rawValue)
        }
    }

    /// The state as it stands on the wire.
    public var rawValue: String {
        switch self {
        case .purchasing: "purchasing"
        case .purchased: "purchased"
        case .failed: "failed"
        case .restored: "restored"
        case .deferred: "deferred"
        case .unknown(let rawValue): rawValue
        }
    }
}

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
