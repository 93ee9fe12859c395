import EventTypes
import Foundation
import ServiceKit

/// A merchant's report on a purchase whose refund is requested, read from either version of the
/// call.
///
/// Pure. The first version uses numbers for all values, the second uses names.
struct ConsumptionReport: Hashable, Sendable {
    /// The versions of the call.
    enum Version: Sendable { case v1, v2 }

    /// The report as JSON with sorted keys.
    let document: [UInt8]

    /// Parses a request's body.
    ///
    /// - Throws: `ServerAPIError`, naming the first member that is missing or out of range.
    init(_ body: Data, _ version: Version) throws(ServerAPIError) {
        switch version {
        case .v1: document = try Self.checked(body, Numbers.self)
        case .v2: document = try Self.checked(body, Words.self)
        }
    }

    /// Whether a report can be about a product type.
    static func isAbout(_ type: ProductType, _ version: Version) -> Bool {
        switch version {
        case .v1: type == .consumable || type == .autoRenewableSubscription
        case .v2: if case .unknown = type { false } else { true }
        }
    }

    private static func checked<Form: ConsumptionForm>(
        _ body: Data,
        _ form: Form.Type
    ) throws(ServerAPIError) -> [UInt8] {
        let read: Form
        do {
            read = try StrictJSON.decode(form, from: body)
        } catch DecodingError.typeMismatch(_, let context),
            DecodingError.dataCorrupted(let context)
        {
            throw context.codingPath.last.flatMap { errors[$0.stringValue] } ?? .generalBadRequest
        } catch {
            throw .generalBadRequest
        }
        try read.check()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(read))
        } catch {
            throw .generalInternal
        }
    }

    private struct Numbers: ConsumptionForm {
        var customerConsented: Bool?
        var consumptionStatus: Int?
        var platform: Int?
        var sampleContentProvided: Bool?
        var deliveryStatus: Int?
        var appAccountToken: String?
        var accountTenure: Int?
        var playTime: Int?
        var lifetimeDollarsRefunded: Int?
        var lifetimeDollarsPurchased: Int?
        var userStatus: Int?
        var refundPreference: Int?

        func check() throws(ServerAPIError) {
            guard customerConsented == true else { throw .invalidCustomerConsented }
            let ranges: [(String, Int?, ClosedRange<Int>)] = [
                ("consumptionStatus", consumptionStatus, 0...3), ("platform", platform, 0...2),
                ("deliveryStatus", deliveryStatus, 0...5), ("accountTenure", accountTenure, 0...7),
                ("playTime", playTime, 0...7),
                ("lifetimeDollarsRefunded", lifetimeDollarsRefunded, 0...7),
                ("lifetimeDollarsPurchased", lifetimeDollarsPurchased, 0...7),
                ("userStatus", userStatus, 0...4), ("refundPreference", refundPreference, 0...3),
            ]
            for (name, value, range) in ranges {
                guard let value, !range.contains(value) else { continue }
                throw errors[name] ?? .generalBadRequest
            }
            if let appAccountToken, !appAccountToken.isEmpty,
                EventID(appAccountToken.lowercased()) == nil
            {
                throw .invalidAppAccountToken
            }
        }
    }

    private struct Words: ConsumptionForm {
        var customerConsented: Bool?
        var sampleContentProvided: Bool?
        var deliveryStatus: String?
        var consumptionPercentage: Int?
        var refundPreference: String?

        func check() throws(ServerAPIError) {
            guard customerConsented == true else { throw .invalidCustomerConsented }
            guard sampleContentProvided != nil else { throw .invalidSampleContentProvided }
            guard let deliveryStatus, deliveryStatuses.contains(deliveryStatus) else {
                throw .invalidDeliveryStatus
            }
            // The value is in thousandths of a percent.
            if let consumptionPercentage, !(0...100_000).contains(consumptionPercentage) {
                throw .generalBadRequest
            }
            if let refundPreference, !refundPreferences.contains(refundPreference) {
                throw .generalBadRequest
            }
        }
    }

    private static let deliveryStatuses: Set<String> = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
        "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
    ]
    private static let refundPreferences: Set<String> = [
        "DECLINE", "GRANT_FULL", "GRANT_PRORATED",
    ]
    private static let errors: [String: ServerAPIError] = [
        "accountTenure": .invalidAccountTenure, "appAccountToken": .invalidAppAccountToken,
        "consumptionStatus": .invalidConsumptionStatus,
        "customerConsented": .invalidCustomerConsented, "deliveryStatus": .invalidDeliveryStatus,
        "lifetimeDollarsPurchased": .invalidLifetimeDollarsPurchased,
        "lifetimeDollarsRefunded": .invalidLifetimeDollarsRefunded, "platform": .invalidPlatform,
        "playTime": .invalidPlayTime, "sampleContentProvided": .invalidSampleContentProvided,
        "userStatus": .invalidUserStatus,
    ]
}

/// The body of one version of the call.
private protocol ConsumptionForm: Codable {
    /// Throws for the first member that is missing or out of range.
    func check() throws(ServerAPIError)
}

/// The errors of the calls about consumption, with Apple's numbers.
extension ServerAPIError {
    static let invalidAccountTenure = consumption(4_000_032, "account tenure")
    static let invalidAppAccountToken = consumption(4_000_033, "app account token")
    static let invalidConsumptionStatus = consumption(4_000_034, "consumption status")
    static let invalidCustomerConsented = consumption(4_000_035, "customer consented")
    static let invalidDeliveryStatus = consumption(4_000_036, "delivery status")
    static let invalidLifetimeDollarsPurchased = consumption(
        4_000_037,
        "lifetime dollars purchased"
    )
    static let invalidLifetimeDollarsRefunded = consumption(4_000_038, "lifetime dollars refunded")
    static let invalidPlatform = consumption(4_000_039, "platform")
    static let invalidPlayTime = consumption(4_000_040, "play time")
    static let invalidSampleContentProvided = consumption(4_000_041, "sample content provided")
    static let invalidUserStatus = consumption(4_000_042, "user status")
    /// The call applies to consumables, and the transaction is not one.
    static let transactionNotConsumable = ServerAPIError(
        4_000_043,
        "Invalid request. The transaction id parameter must represent a consumable in-app purchase."
    )
    /// The call does not apply to the product type.
    static let transactionTypeNotSupported = ServerAPIError(
        4_000_047,
        "Invalid request. The transaction id doesn't represent a supported in-app purchase type."
    )

    private static func consumption(_ code: Int, _ field: String) -> ServerAPIError {
        ServerAPIError(code, "Invalid request. The \(field) field is invalid.")
    }
}
