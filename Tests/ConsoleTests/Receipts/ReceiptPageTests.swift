import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Console

@Suite struct ReceiptPageTests {
    @Test(arguments: ["{}", "{\"a\":1}", "{\"a\":12}", "{\"text\":\"ÿ?ÿ>\"}"])
    func theSecondPartOfAReceiptIsRead(json: String) {
        let part = Data(json.utf8).base64EncodedString().replacing("=", with: "")
            .replacing("+", with: "-").replacing("/", with: "_")
        #expect(ReceiptPage.payload(of: "e30.\(part).c2ln") == Data(json.utf8))
    }

    @Test(arguments: ["", "a.b", "a.b.c.d", "e30.%%%.c2ln", "e30.a.c2ln"])
    func whatIsNoReceiptIsSaidToBeUnreadable(text: String) {
        #expect(ReceiptPage.payload(of: text) == nil)
        let page = ReceiptPage(
            id: TransactionID(number: 1_000_001),
            receipt: ReceiptResponse(signedTransaction: text),
            visitor: .sample([.support])
        ).html.markup
        #expect(page.contains("cannot read it") && page.contains("href=\"/purchases/1000001\""))
    }
}
