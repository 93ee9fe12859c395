import EventTypes
import Testing

/// The names of deliveries' targets.
@Suite struct DeliveryTargetNameTests {
    private let id = TransactionID(number: 7)

    @Test func aNameSaysWhatIsReportedToWhichEntry() {
        let purchase = DeliveryTargetName.purchase(entry: 1, kind: "webhook")
        #expect(purchase == "1:webhook" && purchase.refund == nil && !purchase.isOfRefund)
        #expect(purchase.webhookID(of: id) == "delivery_\(id)_1")

        let refund = DeliveryTargetName.refund(12, entry: 1)
        #expect(refund == "1:refund:12" && refund.refund == 12 && !refund.isReversal)
        #expect(refund.webhookID(of: id) == "delivery_\(id)_1_refund_12")

        let reversal = DeliveryTargetName.reversal(ofRefund: 12, entry: 1)
        #expect(reversal == "1:refund:12:reversed" && reversal.refund == 12)
        #expect(reversal.isOfRefund && reversal.isReversal)
        #expect(reversal.webhookID(of: id) == "delivery_\(id)_1_refund_12_reversed")
    }

    @Test(arguments: ["", "1", ":", "1:owl", "1:owl:2:reversed"])
    func anUnknownNameIsPreservedAndIsOfNoRefund(text: String) {
        let name = DeliveryTargetName(rawValue: text)
        #expect(name.rawValue == text && name.refund == nil)
        #expect(!name.isOfRefund && !name.isReversal)
    }
}
