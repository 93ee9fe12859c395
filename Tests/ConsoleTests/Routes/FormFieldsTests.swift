import EventTypes
import OperatorCore
import StoreAPI
import Testing

@testable import Console

@Suite struct FormFieldsTests {
    private static let id = TransactionID(number: 1_000_001)

    @Test func fieldsAreReadAsBrowsersSendThem() {
        let form = FormFields("reason=%20caf%C3%A9+%26+more%20&empty=&alone")
        #expect(form?["reason"] == "café & more")
        #expect(form?["empty"] == "")
        #expect(form?["alone"] == "")
        #expect(form?["none"] == nil)
    }

    @Test func linesEndAsTheStoreKeepsThem() {
        let form = FormFields("text=one%0D%0Atwo%0Dthree%0Afour%0D%0A%0D%0Afive")
        #expect(form?["text"] == "one\ntwo\nthree\nfour\n\nfive")
    }

    @Test(arguments: ["a=%", "a=%FF", "a=1&a=2"])
    func whatIsNoFormIsRefused(_ body: String) {
        #expect(FormFields(body) == nil)
    }

    @Test(arguments: ["", "reason=", "reason=+++", "reason=a%0Ab"])
    func anActNeedsAReason(_ body: String) throws {
        let form = try #require(FormFields(body))
        #expect(throws: ConsoleProblem.self) {
            try ActFormRules.reason(in: form, back: ActFormRules.back(to: Self.id))
        }
    }

    @Test func aRefundNeedsTheRightOrder() throws {
        let order = OrderID(Self.id)
        let right = try #require(FormFields("order=+\(order.rawValue.lowercased())"))
        try ActFormRules.requireOrder(order, in: right, of: Self.id)
        for body in ["", "order=", "order=\(OrderID(TransactionID(number: 1_000_002)))"] {
            let form = try #require(FormFields(body))
            #expect(throws: ConsoleProblem.self) {
                try ActFormRules.requireOrder(order, in: form, of: Self.id)
            }
        }
    }

    @Test(
        arguments: [
            ("", nil, nil), ("amount=&effect=", nil, nil), ("amount=0.30&effect=revoke", 30, true),
            ("amount=+1&effect=keep", 100, false),
        ] as [(String, Int64?, Bool?)]
    )
    func aRefundIsOfAnAmountOrOfAll(_ body: String, _ cents: Int64?, _ revokes: Bool?) throws {
        let usd = Currency(unchecked: "USD")
        let reason = try #require(ActReason(rawValue: "damaged"))
        let refund = try RefundForm.request(
            of: usd,
            because: reason,
            in: try #require(FormFields(body)),
            back: ActFormRules.back(to: Self.id)
        )
        #expect(refund.amount == cents.map { Money(minorUnits: $0, currency: usd) })
        #expect(refund.revokes == revokes && refund.reason == reason)
    }

    @Test(arguments: ["amount=0", "amount=-1", "amount=0.301", "amount=1,50", "amount=all"])
    func whatIsNoAmountRefundsNothing(_ body: String) throws {
        let reason = try #require(ActReason(rawValue: "damaged"))
        let form = try #require(FormFields(body))
        #expect(throws: ConsoleProblem.self) {
            try RefundForm.request(
                of: Currency(unchecked: "USD"),
                because: reason,
                in: form,
                back: ActFormRules.back(to: Self.id)
            )
        }
    }

    @Test func aReasonThatNobodyGivesIsNoneAndOneThatIsWrongIsRefused() throws {
        let back = ActFormRules.back(to: Self.id)
        let wrong = "reason=" + String(repeating: "x", count: ActReason.lengthMax + 1)
        let cases: [(body: String, reason: String?)] = [
            ("", nil), ("reason=", nil), ("reason=%20", nil), ("reason=late", "late"),
        ]
        for (body, expected) in cases {
            let form = try #require(FormFields(body))
            let reason = try ActFormRules.reasonIfGiven(in: form, back: back)
            #expect(reason?.rawValue == expected, "\(body)")
        }
        let form = try #require(FormFields(wrong))
        #expect(throws: ConsoleProblem.self) {
            try ActFormRules.reasonIfGiven(in: form, back: back)
        }
    }

    @Test func aSearchUnderstandsEachKindOfID() {
        let order = OrderID(Self.id)
        #expect(SearchText("  \(order)\n").transactions == [Self.id])
        #expect(SearchText(" 1000001 ").transactions == [Self.id])
        let sent = ["delivery_1000001_1", "delivery_1000001_1_refund_2_reversed"]
        #expect(sent.allSatisfy { SearchText($0).transactions == [Self.id] })
        let texts = ["delivery_", "delivery_x_1", "delivery_1000001", "other_1000001_1"]
        #expect(texts.allSatisfy { SearchText($0).webhook == nil })
        #expect(SearchText(Self.id.webOrderLineItemID).transactions == [Self.id])
        #expect(SearchText(" dp_1 ").dispute == "dp_1" && SearchText("ch_1").dispute == nil)
        let references = ["pi_1", "ch_1", "re_1", "txn_1", "sandbox-01936b5e"]
        #expect(references.allSatisfy { SearchText(" \($0) ").reference == $0 })
        #expect(["dp_1", "ada", "1000001"].allSatisfy { SearchText($0).reference == nil })
        let letter = SearchText.Letter(service: .receipts, id: 12)
        #expect(SearchText(" Receipts  12").letter == letter)
        #expect(
            ["receipts", "receipts 0", "nobody 12"].allSatisfy { SearchText($0).letter == nil }
        )
        #expect(SearchText("ada").account == AccountID(unchecked: "ada"))
        #expect(SearchText("01936b5e-0000-7000-8000-000000000000").event != nil)
        #expect(SearchText("01936B5E-0000-7000-8000-000000000000").family != nil)
        let attempt = "01936b5e-0000-7000-8000-000000000000"
        #expect(SearchText(attempt.uppercased()).reference == attempt)
        #expect(
            SearchText("com.example.coins").product == ProductID(unchecked: "com.example.coins")
        )
        #expect(SearchText("12").campaign == 12)
        #expect(["0", "-1", "1.5", ""].allSatisfy { SearchText($0).campaign == nil })
        #expect(SearchText("spring-27").code == "SPRING27")
        #expect(["abc", "a b c d", "süden"].allSatisfy { SearchText($0).code == nil })
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        for text in [trace.uppercased(), "00-\(trace)-00f067aa0ba902b7-01"] {
            #expect(SearchText(text).trace.map { "\($0)" } == trace)
        }
    }

    @Test func whatIsFoundNowhereNamesAllThatWasTried() {
        let all = Visitor.sample([.read, .operator])
        #expect(SearchText("two words").words(for: all).isEmpty)
        #expect(
            SearchText("1000001").words(for: all) == [
                "the transaction 1000001", "the account 1000001", "the product 1000001",
                "the campaign 1000001 of offer codes", "the custom code 1000001",
            ]
        )
        let id = "01936b5e-0000-7000-8000-000000000000"
        let words = SearchText(id).words(for: all)
        for kind in [
            "family", "event", "notification", "replay, proof or reconciliation",
            "raise of a price",
        ] {
            #expect(words.contains("the \(kind) \(id)"), "\(kind)")
        }
        for (text, kind) in [
            ("delivery_1000001_1", "the webhook delivery_1000001_1"),
            ("du_1", "the dispute du_1"),
            ("ch_1", "the charge or refund ch_1 at the processor, among the newest 100,000"),
            ("2000000000001000001", "the line item 2000000000001000001 of an order"),
        ] {
            #expect(SearchText(text).words(for: all).contains(kind))
        }
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        #expect(
            SearchText(trace).words(for: all).last
                == "the trace \(trace), among the newest 20,000 events of payments"
        )
    }

    @Test func whatAVisitorMayNotSeeIsNotLookedFor() {
        let support = Visitor.sample([.support])
        #expect(
            SearchText("1000001").words(for: support) == [
                "the transaction 1000001", "the account 1000001",
            ]
        )
        let words = SearchText("01936b5e-0000-7000-8000-000000000000").words(for: support)
        #expect(!words.contains { $0.contains("replay") || $0.contains("raise") })
    }

    @Test func aRaiseIsLookedForByWhoMaySeeProductsAndSubscribers() {
        let id = "01936b5e-0000-7000-8000-000000000000"
        let raises = SearchText(id).words(for: .sample([.merchandiser, .support]))
        #expect(raises.contains("the raise of a price \(id)"))
        #expect(!raises.contains { $0.contains("replay") })
        let replays = SearchText(id).words(for: .sample([.operator, .support]))
        #expect(replays.contains("the replay, proof or reconciliation \(id)"))
        #expect(!replays.contains { $0.contains("raise") })
    }
}
