import EventTypes
import ServiceKit
import StoreAPI
import Testing

@testable import Payments

/// Answers about a code that is not redeemed (rule S57), and about a campaign that is not made.
@Suite struct CodeProblemTests {
    private static let problems: [(PaymentRefusal, String)] = [
        (
            .codeUnknown,
            "404 code_unknown: There is no such code. Check each letter and try again."
        ),
        (.codeExpired, "410 code_expired: This code is no longer valid."),
        (.codeUsed, "409 code_used: This code was redeemed already."),
        (
            .codeRedeemedBefore,
            "409 code_redeemed_before: You have redeemed a code for this offer before."
        ),
        (
            .codeNotForCustomer([.new]),
            "403 code_not_for_customer: This code is for new subscribers."
        ),
        (.codeOfferEnded, "409 code_offer_ended: The offer of this code has ended."),
    ]

    @Test func eachReasonHasItsOwnSentence() {
        for (refusal, problem) in Self.problems { #expect("\(refusal.problem)" == problem) }
    }

    @Test func whomACodeIsForIsSaid() {
        let kinds: [[CustomerKind]] = [
            [.new], [.active], [.expired], [.new, .active], [.new, .expired], [.active, .expired],
        ]
        let sentences = kinds.map { PaymentRefusal.codeNotForCustomer($0).codeSentence }
        #expect(Set(sentences).count == kinds.count, "\(sentences)")
    }

    private func fault(
        _ count: Int,
        word: String? = nil,
        until end: StoreTime? = nil
    ) -> String? {
        CampaignHandler.fault(
            of: CodeCampaignRequest(
                bundleID: alice.bundleID,
                productID: ProductID(unchecked: "club"),
                offerID: OfferID(unchecked: "spring"),
                count: count,
                word: word,
                expiresAt: end
            ),
            at: startTime
        )
    }

    @Test func aCampaignThatCannotBeSaysWhy() {
        #expect(fault(1) == nil && fault(25_000) == nil && fault(1_000_000, word: "SPRING") == nil)
        let few = "count must be from 1 to 25000: how many one-time codes are made."
        #expect(fault(0) == few && fault(25_001) == few)
        let often = "count must be from 1 to 1000000: how often the custom code can be redeemed."
        #expect(fault(0, word: "SPRING") == often && fault(1_000_001, word: "SPRING") == often)
        #expect(fault(1, word: "abc") == "A custom code has from 4 to 64 letters and digits.")
        #expect(fault(1, until: startTime) == "The end (expiresAt) is in the past.")
        #expect(fault(1, until: startTime.advanced(by: .milliseconds(1))) == nil)
    }
}
