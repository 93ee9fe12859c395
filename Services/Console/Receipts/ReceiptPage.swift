import EventTypes
import Foundation
import OperatorCore
import StoreAPI

/// The signed receipt of a purchase: what the app reads in it, and the signed text.
///
/// Nothing of it is checked here. Pure.
struct ReceiptPage {
    let id: TransactionID
    let receipt: ReceiptResponse
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Receipt of \(id)", visitor: visitor).page(
            """
            <section aria-labelledby="says"><h2 id="says">What it says</h2>
            <p class="dim">The app reads this in it. Times are milliseconds since 1970.</p>
            \(payload)
            </section>
            <section aria-labelledby="signed"><h2 id="signed">As it is signed</h2>
            <p class="dim">A JWS in compact form. Apps and merchants’ servers check its signature; this page does not.</p>
            <pre id="jws" tabindex="0">\(receipt.signedTransaction)</pre>
            </section>
            <p><a href="/purchases/\(id)">The purchase</a></p>
            """
        )
    }

    private var payload: HTML {
        guard let data = Self.payload(of: receipt.signedTransaction) else {
            return "<p class=\"problem\">This version cannot read it.</p>"
        }
        return "<pre id=\"payload\" tabindex=\"0\">\(EventText.text(of: data))</pre>"
    }

    /// The second part of a JWS in compact form; `nil` if the text is none.
    static func payload(of text: String) -> Data? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var base64 = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        return Data(base64Encoded: base64)
    }
}
