import EventTypes
import Foundation
import ServiceKit

/// A request to extend the renewal date of one subscription, or of all of a product.
///
/// Pure. The store extends no subscription yet. So every well-formed request is refused, as Apple's
/// server refuses one for a transaction or product that is not an active subscription.
struct RenewalExtension: Decodable, Hashable, Sendable {
    var extendByDays: Int?
    var extendReasonCode: Int?
    var requestIdentifier: String?
    var productId: String?
    var storefrontCountryCodes: [String]?

    /// Parses a body.
    ///
    /// - Throws: ``ServerAPIError``. A field of the wrong type is reported as that field's wrong
    ///   value only if Apple has a number for it.
    init(_ body: [UInt8]) throws(ServerAPIError) {
        do {
            self = try StrictJSON.decode(RenewalExtension.self, from: Data(body))
        } catch let error as DecodingError {
            throw Self.error(of: error)
        } catch {
            throw .generalBadRequest
        }
        guard let extendByDays, (1...90).contains(extendByDays) else { throw .invalidExtendByDays }
        guard let extendReasonCode, (0...3).contains(extendReasonCode) else {
            throw .invalidExtendReasonCode
        }
        guard let requestIdentifier,
            (1...128).contains(requestIdentifier.unicodeScalars.count)
        else { throw .invalidRequestIdentifier }
    }

    /// Checks the additional fields of a request for all subscribers of a product.
    ///
    /// - Throws: ``ServerAPIError``.
    func checkMass() throws(ServerAPIError) {
        guard let productId, ProductID(rawValue: productId) != nil else { throw .invalidProductID }
        if let storefrontCountryCodes {
            if storefrontCountryCodes.isEmpty { throw .invalidEmptyStorefrontCountryCodeList }
            for code in storefrontCountryCodes where Storefront(rawValue: code) == nil {
                throw .invalidStorefrontCountryCode
            }
        }
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
