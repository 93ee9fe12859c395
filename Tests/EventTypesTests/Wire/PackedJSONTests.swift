import Testing

@testable import EventTypes

@Suite struct PackedJSONTests {
    private static let purchased = """
        {"environment":"Sandbox","transaction":{"accountID":"ada","bundleID":"com.example.app",\
        "deliveryPlan":[{"amount":100,"kind":"credit","unit":"coins"}],"id":"2000001",\
        "originalID":"2000001","originalPurchasedAt":1795429798273,\
        "price":{"currency":"USD","minorUnits":99},"productID":"coins.100",\
        "productType":"consumable","productVersion":1,"purchasedAt":1795429798273,"quantity":1,\
        "reason":"purchase","requestedAt":1795429795308,"state":"purchased","storefront":"USA",\
        "version":2}}
        """

    @Test func aPurchaseIsStoredInAThird() {
        let json = Array(Self.purchased.utf8)
        #expect(PackedJSON.packed(json).count * 3 < json.count)
    }

    @Test(arguments: [
        "events/v1/subscription.changed.json",
        "events/v1/optional/subscription.changed.win-back.json",
        "events/v1/optional/transaction.purchased.renewal.json",
    ])
    func aSubscriptionIsStoredInHalf(event: String) throws {
        let json = Array(try Fixture.canonical(Fixture.bytes(event)).utf8)
        #expect(PackedJSON.packed(json).count * 2 < json.count)
    }

    @Test(arguments: ["events/v1", "events/v1/optional", "events/v1/unknown"])
    func everyEventUnpacksAsItWas(folder: String) throws {
        for name in try Fixture.names(in: folder) {
            // Once with line breaks, which are codes, and once without.
            let json = try Fixture.bytes("\(folder)/\(name)")
            let plain = Array(try Fixture.canonical(json).utf8)
            #expect(try PackedJSON.unpacked(PackedJSON.packed(json)) == json, "\(name)")
            #expect(try PackedJSON.unpacked(PackedJSON.packed(plain)) == plain, "\(name)")
            #expect(PackedJSON.packed(plain).count <= plain.count, "\(name)")
        }
    }

    @Test func anyBytesUnpackAsTheyWere() throws {
        let every = (0...255).map { UInt8($0) }
        for bytes in [[], every, [0x1E], [0x1F, 0x1F], [0x1E, 0x30], Array("{\"a".utf8)] {
            #expect(try PackedJSON.unpacked(PackedJSON.packed(bytes)) == bytes)
        }
        for text in PackedJSON.texts {
            let bytes = text.withUTF8Buffer { Array($0) }
            #expect(PackedJSON.packed(bytes).count <= 2)
            #expect(try PackedJSON.unpacked(PackedJSON.packed(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        ([0x1E], [0x1E]), ([0x1E, 0x20], [0x1E, 0x20]), ([0x1E, 0x7E], [0x1E, 0x7E]),
        ([0x1E, 0xFF], [0x1E, 0xFF]), ([0x1F], [0x1F]), ([0], [0]),
    ])
    func aCodeThatNobodyKnowsIsNamed(end: [UInt8], code: [UInt8]) {
        let error = #expect(throws: UnknownTextCode.self) {
            try PackedJSON.unpacked(Array("{".utf8) + end)
        }
        #expect(error?.position == 1)
        #expect(error?.code == code)
    }

    @Test func theErrorSaysWhereTheCodeIs() {
        let error = UnknownTextCode(position: 2, bytes: [0x7B, 0x7D, 0x1E, 0x7E, 0x7D])
        #expect(
            "\(error)" == """
                Packed text has the code \\x1e7e at byte 2, which this version does not know. A newer \
                version has written it, or it is damaged.
                """
        )
    }

    /// Rows that were stored by an earlier version have to be readable for ever.
    @Test func whatWasStoredCanAlwaysBeRead() throws {
        let stored = """
            \u{15}\u{18}ada\u{2}com.example.app\u{3}\u{4}100\u{5}coins"}\u{6}2000001\u{7}2000001\
            \u{8}1795429798273\u{9}USD\u{B}99\u{C}coins.100\u{D}1\u{F}1795429798273\
            \u{10}1795429795308\u{11}USA\u{13}2}}
            """
        #expect(try PackedJSON.unpacked(Array(stored.utf8)) == Array(Self.purchased.utf8))
        #expect(PackedJSON.packed(Array(Self.purchased.utf8)) == Array(stored.utf8))
    }
}
