import EventTypes
import Foundation
import ServiceKit
import Subscriptions

/// The body of a merchant's server that extends one subscription, or all of a product.
///
/// Pure.
struct RenewalExtension: Hashable, Sendable {
    private struct Body: Decodable {
        var extendByDays: Int?
        var extendReasonCode: Int?
        var requestIdentifier: String?
        var productId: String?
        var storefrontCountryCodes: [String]?
    }

    let days: Int
    let reasonCode: Int
    let requestIdentifier: String
    private let productID: String?
    private let storefronts: [String]?

    /// Parses a body.
    ///
    /// - Throws: ``ServerAPIError``. A field of the wrong type is reported as that field's wrong
    ///   value only if Apple has a number for it.
    init(_ bytes: [UInt8]) throws(ServerAPIError) {
        let body: Body
        do {
            body = try StrictJSON.decode(Body.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw Self.error(of: error)
        } catch {
            throw .generalBadRequest
        }
        guard let days = body.extendByDays, (1...RequestedExtension.daysMax).contains(days) else {
            throw .invalidExtendByDays
        }
        guard let code = body.extendReasonCode, (0...3).contains(code) else {
            throw .invalidExtendReasonCode
        }
        // PostgreSQL stores no text with a zero. The prefix is that of the store's own identifiers. What is
        // kept for ever has no card's number in it.
        guard let identifier = body.requestIdentifier, !identifier.unicodeScalars.contains("\0"),
            (1...128).contains(identifier.unicodeScalars.count),
            !identifier.hasPrefix(RequestedExtension.massPrefix), !CardNumber.isIn(identifier)
        else { throw .invalidRequestIdentifier }
        self.days = days
        reasonCode = code
        requestIdentifier = identifier
        productID = body.productId
        storefronts = body.storefrontCountryCodes
    }

    /// The extension of one subscription.
    var one: RequestedExtension {
        RequestedExtension(id: requestIdentifier, days: days, reasonCode: reasonCode)
    }

    /// The request for all subscribers of a product.
    ///
    /// - Parameters:
    ///   - bundle: The app of the server's token.
    ///   - time: The present.
    /// - Returns: The request, which the database gives its number.
    /// - Throws: ``ServerAPIError`` if a field that only this request has is wrong.
    func all(in bundle: BundleID, at time: StoreTime) throws(ServerAPIError) -> MassExtension {
        guard let product = productID.flatMap(ProductID.init(rawValue:)) else {
            throw .invalidProductID
        }
        if let storefronts, storefronts.isEmpty { throw .invalidEmptyStorefrontCountryCodeList }
        let known = storefronts?.compactMap(Storefront.init(rawValue:))
        guard known?.count == storefronts?.count else { throw .invalidStorefrontCountryCode }
        return MassExtension(
            number: 0,
            bundleID: bundle,
            productID: product,
            requestIdentifier: requestIdentifier,
            days: days,
            reasonCode: reasonCode,
            storefronts: known,
            acceptedAt: time
        )
    }

    private static func error(of error: DecodingError) -> ServerAPIError {
        guard case .typeMismatch(_, let context) = error else { return .generalBadRequest }
        return switch context.codingPath.first?.stringValue {
        case "extendByDays": .invalidExtendByDays
        case "extendReasonCode": .invalidExtendReasonCode
        case "requestIdentifier": .invalidRequestIdentifier
        case "productId": .invalidProductID
        case "storefrontCountryCodes": .invalidStorefrontCountryCode
        default: .generalBadRequest
        }
    }
}
