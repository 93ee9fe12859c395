import EventTypes
import Foundation
import HTTPTypes
import ServiceKit
import StoreAPI

/// An app's request for its receipt.
struct AppReceiptQuestion: Hashable, Sendable {
    /// The device's id, 16 bytes.
    ///
    /// It is empty if the app does not bind its receipt to a device.
    var deviceID: [UInt8] = []
    /// The app's version.
    var applicationVersion = "1.0"
    /// For tests: whether the receipt has expired when it is made.
    var isExpired = false
    /// For tests: whether every purchase in it is revoked.
    var isRevoked = false
    /// For tests: whether the app was bought through volume purchase.
    var isVolumePurchase = false

    /// Creates a request without options.
    init() {}

    /// Reads a query.
    ///
    /// - Throws: `HTTPProblem` if a value is malformed, or a test option is used in production.
    init(
        _ query: some Sequence<(key: Substring, value: Substring)>,
        environment: StoreEnvironment
    ) throws {
        for (name, value) in query {
            switch name {
            case Substring(AppReceiptQuery.device):
                guard let id = UUID(uuidString: String(value)) else {
                    throw Self.malformed(name, "a UUID")
                }
                deviceID = withUnsafeBytes(of: id.uuid) { Array($0) }
            case Substring(AppReceiptQuery.applicationVersion):
                let isVisible = value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                guard (1...64).contains(value.utf8.count), isVisible else {
                    throw Self.malformed(name, "1 to 64 visible ASCII characters")
                }
                applicationVersion = String(value)
            case Substring(AppReceiptQuery.expired):
                isExpired = try Self.flag(name, value, environment)
            case Substring(AppReceiptQuery.revoked):
                isRevoked = try Self.flag(name, value, environment)
            case Substring(AppReceiptQuery.volumePurchase):
                isVolumePurchase = try Self.flag(name, value, environment)
            default:
                // A misspelt option must not be ignored.
                throw Self.malformed(name, "left out; there is no such parameter")
            }
        }
    }

    private static func flag(
        _ name: Substring,
        _ value: Substring,
        _ environment: StoreEnvironment
    ) throws -> Bool {
        guard let isSet = Bool(String(value)) else {
            throw malformed(name, "true or false")
        }
        guard !isSet || environment == .sandbox else {
            throw HTTPProblem(
                .badRequest,
                code: "receipt_property_refused",
                title: "Not in this environment",
                detail: "“\(name)” makes a receipt for tests, which only a sandbox does."
            )
        }
        return isSet
    }

    private static func malformed(_ name: Substring, _ form: String) -> HTTPProblem {
        HTTPProblem(
            .badRequest,
            code: "query_invalid",
            title: "The query cannot be understood",
            detail: "“\(shortened(name, to: 64))” must be \(form)."
        )
    }
}
