import Crypto
import EventTypes
import Foundation

/// The mark by which the console knows a form of a raise that it has made itself.
///
/// The form carries the place to go on from. With another one, subscriptions would be passed over.
/// The key is in memory alone, so after a restart of the console a raise is begun again.
struct RaiseSeal: Sendable {
    private let key = SymmetricKey(size: .bits256)

    /// The mark of a form, for one product and one session.
    func text(of form: RaiseForm, _ product: ProductID, _ visitor: Visitor) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(Self.text(form, product, visitor).utf8),
            using: key
        )
        return Data(code).base64EncodedString()
    }

    /// Whether a mark is that of a form.
    func isOf(
        _ form: RaiseForm,
        _ product: ProductID,
        _ visitor: Visitor,
        _ mark: String
    ) -> Bool {
        RandomSecret.areEqual(mark, text(of: form, product, visitor))
    }

    /// Everything that a mark binds.
    ///
    /// The fields are escaped, so no two forms have the same text.
    private static func text(
        _ form: RaiseForm,
        _ product: ProductID,
        _ visitor: Visitor
    ) -> String {
        let bound = [("product", product.rawValue), ("session", visitor.session.csrf)]
        return PlainWords.query(bound + form.fields)
    }
}
