import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import PaymentQueue

/// An error's texts for the buyer and the developer, and its code.
@Suite struct SKErrorTests {
    private func problem(_ code: String, _ status: Int = 409) -> SKError {
        SKError(Problem(code: code, title: "Title", status: status, detail: "What was wrong."))
    }

    // MARK: - Cocoa

    @Test(arguments: SKError.Code.allCases)
    func asAnNSErrorItHasStoreKitsDomainAndCode(_ code: SKError.Code) {
        let error: any Error = SKError(code, detail: "what happened")
        let bridged = error as NSError
        #expect(bridged.domain == "SKErrorDomain")
        #expect(bridged.code == code.rawValue)
        #expect(bridged.localizedDescription == code.sentence)
        #expect(bridged.localizedFailureReason == "what happened")
        #expect(error.localizedDescription == code.sentence)
    }

    @Test func everyCodeHasASentenceOfItsOwn() {
        let sentences = SKError.Code.allCases.map { SKError($0).localizedDescription }
        #expect(Set(sentences).count == SKError.Code.allCases.count)
        for sentence in sentences + SKError.sentences.values {
            #expect(sentence.hasSuffix(".") && sentence.first?.isUppercase == true)
            #expect(!sentence.contains("_") && !sentence.contains("error"))
        }
    }

    @Test func anErrorWithoutDetailStillHasAFailureReason() {
        #expect(SKError(.paymentInvalid).failureReason?.contains("paymentInvalid") == true)
    }

    // MARK: - Transactions that failed

    @Test(arguments: [
        (FailureReason.paymentCancelled, SKError.Code.paymentCancelled),
        (.paymentDeclined, .paymentInvalid), (.insufficientFunds, .paymentInvalid),
        (.approvalDeclined, .paymentNotAllowed), (.approvalExpired, .paymentNotAllowed),
        (.paymentsNotAllowed, .paymentNotAllowed), (.storefrontChanged, .storeProductNotAvailable),
        (.processorRefused, .unknown), (.interrupted, .unknown), (.buyerMustAct, .paymentInvalid),
    ])
    func aFailureSaysWhy(reason: FailureReason, code: SKError.Code) throws {
        let error = SKError(reason)
        #expect(error.code == code)
        #expect(error.storeCode == reason.rawValue)
        let meaning = try #require(SKError.meanings[reason.rawValue])
        #expect(error.failureReason == "\(reason.rawValue): \(meaning)")
    }

    @Test func aCancelledAndADeclinedPaymentReadDifferently() {
        let reasons: [FailureReason] = [
            .paymentCancelled, .paymentDeclined, .insufficientFunds, .approvalDeclined,
            .approvalExpired, .processorRefused, .storefrontChanged, .interrupted, .buyerMustAct,
        ]
        #expect(Set(reasons.map { SKError($0).localizedDescription }).count == reasons.count)
    }

    @Test func aReasonOfANewerStoreIsUnknownAndPreserved() {
        let error = SKError(FailureReason.unknown("moonIsFull"))
        #expect(error.code == .unknown && error.storeCode == "moonIsFull")
        #expect(error.failureReason?.hasPrefix("moonIsFull") == true)
    }

    // MARK: - Requests that were refused

    @Test(arguments: [
        ("stale_price", SKError.Code.paymentInvalid), ("wrong_currency", .paymentInvalid),
        ("quantity_out_of_range", .paymentInvalid), ("price_overflow", .paymentInvalid),
        ("payment_method_unknown", .paymentInvalid), ("purchase_intent_unknown", .paymentInvalid),
        ("application_username_too_long", .paymentInvalid),
        ("idempotency_key_reused", .paymentInvalid),
        ("product_unknown", .storeProductNotAvailable),
        ("product_unavailable", .storeProductNotAvailable),
        ("product_type_not_sold_yet", .storeProductNotAvailable),
        ("storefront_changed", .storeProductNotAvailable),
        ("payments_not_allowed", .paymentNotAllowed),
        ("offer_unknown", .invalidOfferIdentifier), ("offer_key_unknown", .invalidSignature),
        ("offer_signature_invalid", .invalidSignature), ("offer_expired", .invalidSignature),
        ("offer_nonce_used", .invalidSignature), ("offer_incomplete", .missingOfferParams),
        ("offer_price_invalid", .invalidOfferPrice), ("stale_offer", .invalidOfferPrice),
        ("offer_not_available", .ineligibleForOffer), ("offers_contradict", .paymentInvalid),
        ("unauthorized", .clientInvalid), ("transaction_unknown", .clientInvalid),
        ("transaction_revoked", .clientInvalid), ("content_unknown", .clientInvalid),
        ("too_many_streams", .cloudServiceNetworkConnectionFailed),
        ("try_again", .cloudServiceNetworkConnectionFailed),
        ("internal", .unknown), ("query_invalid", .unknown),
    ])
    func aRefusalHasTheCodeWhoseDocumentationFits(problem code: String, expected: SKError.Code) {
        let error = problem(code)
        #expect(error.code == expected)
        #expect(error.storeCode == code)
        #expect(error.failureReason == "\(code): What was wrong.")
    }

    @Test func aRefusalOfANewerStoreGoesByItsStatus() {
        #expect(problem("of_a_newer_store", 403).code == .clientInvalid)
        #expect(problem("of_a_newer_store", 401).code == .clientInvalid)
        #expect(problem("of_a_newer_store", 422).code == .unknown)
    }

    /// A problem that a service learns has to be decided about here as well.
    @Test func everyProblemOfTheServicesIsInTheTable() throws {
        let said = try Self.problemsOfTheServices()
        #expect(said.count > 60, "The services' problems are not found any more.")
        #expect(said.subtracting(SKError.codes.keys).sorted() == [])
        #expect(Set(SKError.codes.keys).subtracting(said).sorted() == [])
    }

    /// The codes in the sources: `code: "…"`, the arguments of functions that make problems, and the
    /// raw values of the refusals that are problems.
    private static func problemsOfTheServices() throws -> Set<String> {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        var codes: Set<String> = []
        for folder in ["Services", "Shared/ServiceKit"] {
            let files = FileManager.default.enumerator(
                at: root.appendingPathComponent(folder),
                includingPropertiesForKeys: nil
            )
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                let word =
                    #/(?:code: |(?:badRequest|conflict).\s*|refusal.\.\w+, |case \w+ = )"([a-z_]+)"/#
                let isOfProblems = text.contains("HTTPProblem") || text.contains("enum Refusal")
                // No app calls the console.
                guard isOfProblems, !file.path.contains("/Services/Console/") else { continue }
                codes.formUnion(text.matches(of: word).map { String($0.1) })
            }
        }
        return codes
    }
}
