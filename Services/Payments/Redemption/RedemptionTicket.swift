import Crypto
import EventTypes
import ServiceKit
import StoreAPI

/// The words of an app when it opened the page for codes.
///
/// The ticket signs the page's visitor in as the app's account. Only its digest is kept.
struct RedemptionTicket: Hashable, Sendable {
    /// The time for which a ticket is good.
    static let lifetime = Duration.seconds(5 * 60)

    let account: AccountKey
    let storefront: Storefront
    let paymentMethod: PaymentMethod
    let applicationUsername: String?
    let endsAt: MachineTime
    /// The code whose terms the page has shown last; `nil` before any.
    var shown: CodeDigest?

    /// The digest of a code as a person has typed it, if it is the one that the page has shown last.
    func shownCode(as typed: String) -> CodeDigest? {
        guard let shown, CodeDigest(typed: typed, in: account.bundleID) == shown else { return nil }
        return shown
    }

    /// A new secret of 128 random bits.
    static func secret() -> String {
        SymmetricKey(size: .bits128).withUnsafeBytes { CodeDigest.hexadecimal($0) }
    }

    /// Whether a text has the form of a secret.
    static func isSecret(_ text: String) -> Bool {
        text.utf8.count == 32
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    /// The digest of a secret.
    static func digest(of secret: String) -> String {
        CodeDigest.hexadecimal(SHA256.hash(data: Array(secret.utf8)))
    }
}

extension RedemptionTicketRequest {
    /// Whether one of the texts, which would all be stored, has the number of a card in it.
    var hasCardNumber: Bool {
        [paymentMethod.rawValue, applicationUsername ?? ""]
            .contains(where: CardNumber.isIn)
    }
}
