import EventTypes
import Foundation
import ServiceKit
import StoreAPI
import Testing

@testable import Payments

/// Signed offers of which somebody has changed a character: none is accepted.
@Suite(.timeLimit(.minutes(3))) struct OfferMutationTests {
    private let signer = OfferSigner.shared

    /// Whether the key of alice's app has signed the offer of a request.
    private func accepts(_ payment: PaymentRequest) -> Bool {
        let read = SignedOffer.read(payment, in: alice.bundleID, signedBy: signer.keys)
        guard case .success(let offer) = read else { return false }
        return offer.fault == nil
    }

    /// A text with another character at each of its places, in up to three ways.
    private func changed(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        var texts: [String] = []
        for index in bytes.indices {
            let others = [bytes[index] ^ 0x01, UInt8(ascii: "A"), UInt8(ascii: ".")]
            for other in others where other != bytes[index] {
                var changed = bytes
                changed[index] = other
                texts.append(String(decoding: changed, as: UTF8.self))
            }
        }
        return texts
    }

    @Test func noCharacterOfAnOffersJWSCanBeChanged() throws {
        let token = try signer.token()
        #expect(accepts(redeeming(token: token)))
        #expect(changed(token).filter { accepts(redeeming(token: $0)) } == [])
    }

    @Test func noCharacterOfADecisionsJWSCanBeChanged() throws {
        func asking(_ token: String) -> PaymentRequest {
            var payment = request("club", price: usd(299))
            payment.introductoryOfferEligibility = token
            return payment
        }
        let token = try signer.eligibility(false)
        #expect(accepts(asking(token)))
        #expect(changed(token).filter { accepts(asking($0)) } == [])
    }

    @Test func noCharacterOfADiscountCanBeChanged() throws {
        // The case of a nonce's letters does not matter, so this one has none.
        let nonce = try #require(UUID(uuidString: "01234567-8901-4345-8789-012345678901"))
        let discount = try signer.discount(nonce: nonce)
        #expect(accepts(redeeming(discount)))
        var accepted: [PaymentDiscount] = []
        func change(_ member: WritableKeyPath<PaymentDiscount, String?>) throws {
            let text = try #require(discount[keyPath: member])
            for other in changed(text) {
                var discount = discount
                discount[keyPath: member] = other
                if accepts(redeeming(discount)) { accepted.append(discount) }
            }
        }
        try change(\.identifier)
        try change(\.keyIdentifier)
        try change(\.nonce)
        try change(\.signature)
        for step in [Int64(-1), 1, 1000] {
            var discount = discount
            discount.timestamp = discount.timestamp.map { $0 + step }
            if accepts(redeeming(discount)) { accepted.append(discount) }
        }
        #expect(accepted == [])
    }
}
