import EventTypes
import Foundation
import ReceiptValidation
import ServiceKit

/// A server's request to `verifyReceipt`.
struct VerifyReceiptRequest: Sendable {
    /// The app receipt: PKCS#7 in DER.
    let receipt: [UInt8]
    /// The app's shared secret, if it was sent.
    let password: String?
    /// Whether only the newest period of each subscription is requested.
    let excludesOldTransactions: Bool

    /// The largest body that is read: the largest receipt in base64, and space for the rest.
    static let lengthMax = ReceiptValidator.appReceiptLengthMax / 3 * 4 + 16 * 1024

    private struct Body: Decodable {
        enum CodingKeys: String, CodingKey {
            case receiptData = "receipt-data"
            case password
            case excludesOldTransactions = "exclude-old-transactions"
        }

        var receiptData: String?
        var password: String?
        var excludesOldTransactions: Flag?
    }

    /// A Boolean as old clients write it: `true`, `"true"` or `1`.
    private struct Flag: Decodable {
        let isSet: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // An error only says that the value is of another kind.
            if let isSet = try? container.decode(Bool.self) {
                self.isSet = isSet
                return
            }
            let text =
                (try? container.decode(Int.self)).map { String($0) }
                ?? (try? container.decode(String.self))?.lowercased()
            switch text {
            case "true", "1": isSet = true
            case "false", "0", "": isSet = false
            default:
                throw DecodingError.typeMismatch(
                    Bool.self,
                    DecodingError.Context(
                        codingPath: decoder.codingPath,
                        debugDescription: "It is neither true nor false."
                    )
                )
            }
        }
    }

    /// Parses a body, whatever its content type is.
    ///
    /// - Throws: ``VerifyReceiptStatus``: `unreadable` if it is not a JSON object, `malformed` if a
    ///   member is invalid.
    init(_ body: Data) throws(VerifyReceiptStatus) {
        let request: Body
        do {
            request = try StrictJSON.decode(Body.self, from: body)
        } catch DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty {
            throw .malformed
        } catch {
            throw .unreadable
        }
        guard let text = request.receiptData, !text.isEmpty,
            let receipt = StrictBase64.decode(Self.withoutLineEnds(text), .standard)
        else { throw .malformed }
        self.receipt = receipt
        // Clients without a secret send an empty one.
        password = request.password.flatMap { $0.isEmpty ? nil : $0 }
        excludesOldTransactions = request.excludesOldTransactions?.isSet ?? false
    }

    /// Removes the line breaks that some encoders insert.
    ///
    /// Other characters are not removed.
    private static func withoutLineEnds(_ text: String) -> ArraySlice<UInt8> {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return bytes[...] }
        return bytes.filter { $0 != 0x0A && $0 != 0x0D }[...]
    }
}
