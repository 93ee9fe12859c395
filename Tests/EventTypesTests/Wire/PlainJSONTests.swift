import Foundation
import Testing

@testable import EventTypes

/// The events that are read and written without Foundation's coders, held against those.
@Suite struct PlainJSONTests {
    private static let transactionEvents = [
        "transaction.purchasing", "transaction.deferred", "transaction.purchased",
        "transaction.failed", "transaction.restored", "transaction.refunded",
        "transaction.refund-reversed", "transaction.approved", "transaction.stray-charged",
        "transaction.stray-charge-returned", "transaction.wait-changed",
        "optional/transaction.purchased", "optional/transaction.purchasing",
        "optional/transaction.restored", "optional/transaction.refunded.part",
        "optional/transaction.purchased.renewal", "optional/transaction.restored.period",
        "optional/transaction.purchased.offer", "optional/transaction.purchased.promotional",
        "optional/transaction.purchased.code",
        "optional/transaction.purchased.redeeming",
    ]

    private func foundationEncoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func purchased(
        _ change: (inout Transaction) -> Void
    ) throws -> TransactionChanged {
        let bytes = try Fixture.bytes("events/v1/transaction.purchased.json")
        var event = try EventCoding.decode(TransactionChanged.self, from: bytes)
        change(&event.transaction)
        return event
    }

    @Test(arguments: transactionEvents)
    func aTransactionIsReadAndWrittenAsFoundationDoes(name: String) throws {
        let bytes = try Fixture.bytes("events/v1/\(name).json")
        let plain = try #require(TransactionChanged(json: bytes))
        #expect(
            plain == (try JSONDecoder().decode(TransactionChanged.self, from: Data(bytes)))
        )
        let written = try #require(plain.json())
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(plain)))
    }

    @Test(arguments: ["receipt.issued", "optional/receipt.issued"])
    func aReceiptIsReadAndWrittenAsFoundationDoes(name: String) throws {
        let bytes = try Fixture.bytes("events/v1/\(name).json")
        let plain = try #require(ReceiptIssued(json: bytes))
        #expect(plain == (try JSONDecoder().decode(ReceiptIssued.self, from: Data(bytes))))
        let written = try #require(plain.json())
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(plain)))
    }

    @Test(arguments: [
        "receipt.reissued", "unknown/receipt.reissued", "optional/receipt.reissued.upgraded",
    ])
    func aReissuedReceiptIsWrittenAsFoundationDoes(name: String) throws {
        let bytes = try Fixture.bytes("events/v1/\(name).json")
        let event = try EventCoding.decode(ReceiptReissued.self, from: bytes)
        let written = try #require(event.json())
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(event)))
    }

    @Test(arguments: ["queue.changed", "transaction.finished"])
    func aQueueChangeIsReadAsFoundationDoes(name: String) throws {
        let bytes = try Fixture.bytes("events/v1/\(name).json")
        let plain = try #require(QueueChanged(json: bytes))
        #expect(plain == (try JSONDecoder().decode(QueueChanged.self, from: Data(bytes))))
    }

    @Test(arguments: [
        "", "ada", "a \"quoted\" \\ name/with/slashes", "línea\u{2028}sépara 🎁",
        "\u{0}\u{1}\u{8}\u{9}\u{A}\u{B}\u{C}\u{D}\u{1B}\u{1F}\u{7F}",
    ])
    func anyTextIsWrittenAsFoundationDoesAndReadsBack(name: String) throws {
        let event = try purchased { transaction in
            transaction.applicationUsername = name
            transaction.deliveryPlan = [
                .credit(unit: name, amount: .min), .webhook(url: name), .entitlement, .app,
                .unknown(kind: name),
            ]
        }
        let written = try EventCoding.encode(event)
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(event)))
        #expect(try EventCoding.decode(TransactionChanged.self, from: written) == event)
    }

    @Test(arguments: [
        (0, 1), (Int64.max, Int.max), (Int64.min + 1, 2),
    ])
    func anyNumberIsWrittenAsFoundationDoesAndReadsBack(amount: Int64, quantity: Int) throws {
        let event = try purchased { transaction in
            transaction.price = Money(minorUnits: amount, currency: transaction.price.currency)
            transaction.quantity = quantity
        }
        let written = try EventCoding.encode(event)
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(event)))
        #expect(TransactionChanged(json: written) == event)
    }

    @Test func anOptionalMemberMayBeNull() throws {
        let event = try purchased { $0.applicationUsername = nil }
        let text = String(decoding: try EventCoding.encode(event), as: UTF8.self)
        let withNull = text.replacing("\"bundleID\"", with: "\"revokedAt\": null , \"bundleID\"")
        #expect(TransactionChanged(json: Array(withNull.utf8)) == event)
    }

    @Test(arguments: [
        // A mistake, something that is not plain, and something that follows.
        ("\"quantity\":1", "\"quantity\":1.0"), ("\"quantity\":1", "\"quantity\":1e2"),
        ("\"quantity\":1", "\"quantity\":01"), ("\"quantity\":1", "\"quantity\":-"),
        ("\"quantity\":1", "\"quantity\":99999999999999999999"), ("\"quantity\":1", "\"quantity\""),
        ("\"quantity\":1", "\"quantity\":\"1\""), ("\"quantity\":1", "\"newer\":{\"deep\":[1,}"),
        ("\"state\":\"purchased\"", "\"state\":null"), ("\"USD\"", "\"US\""),
        ("\"state\":\"purchased\"", "\"state\":\"purch\\u0061sed\""),
        ("\"state\":\"purchased\"", "\"state\":\"purchaséd\""),
    ])
    func whatIsNotPlainIsLeftToFoundation(plain: String, other: String) throws {
        let bytes = try EventCoding.encode(try purchased { $0.quantity = 1 })
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(plain))
        #expect(TransactionChanged(json: Array(text.replacing(plain, with: other).utf8)) == nil)
    }

    @Test func everyTextThatIsCutShortOrGoesOnIsRefused() throws {
        let bytes = try EventCoding.encode(try purchased { _ in })
        for count in 0..<bytes.count {
            #expect(TransactionChanged(json: Array(bytes.prefix(count))) == nil)
        }
        #expect(TransactionChanged(json: bytes + Array("{}".utf8)) == nil)
        #expect(TransactionChanged(json: bytes + Array(" \n".utf8)) != nil)
    }

    @Test func unknownMembersOfAnyShapeArePassedOver() throws {
        let event = try purchased { _ in }
        let text = String(decoding: try EventCoding.encode(event), as: UTF8.self)
        let newer = text.replacing(
            "\"bundleID\"",
            with: "\"newer\":[{\"a\":{}},[],true,false,null,-7,\"x\"],\"bundleID\""
        )
        #expect(TransactionChanged(json: Array(newer.utf8)) == event)
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func whatIsVeryDeepIsNotSkipped(start: String, end: String) {
        func skips(_ depth: Int) -> Bool {
            let (starts, ends) = (
                String(repeating: start, count: depth), String(repeating: end, count: depth)
            )
            return PlainJSON.read(Array("\(starts)1\(ends)".utf8), { $0.skip() ? true : nil })
                == true
        }
        #expect(skips(100))
        #expect(!skips(200) && !skips(100_000))
    }
}
