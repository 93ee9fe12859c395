import Contracts
import EventTypes
import Foundation
import TestSupport
import Testing

@Suite struct ContractTests {
    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func schemas(_ document: [String: Any]) throws -> [String: [String: Any]] {
        let components = try #require(document["components"] as? [String: Any])
        return try #require(components["schemas"] as? [String: [String: Any]])
    }

    private func references(in value: Any) -> Set<String> {
        if let object = value as? [String: Any] {
            var found = object.values.reduce(into: Set()) { $0.formUnion(references(in: $1)) }
            if let reference = object["$ref"] as? String { found.insert(reference) }
            return found
        }
        return (value as? [Any] ?? []).reduce(into: []) { $0.formUnion(references(in: $1)) }
    }

    @Test(arguments: Contract.Service.allCases)
    func aServicesPartIsWholeAndHoldsNothingElse(service: Contract.Service) throws {
        let part = try object(Contract.openAPI(of: service))
        let paths = try #require(part["paths"] as? [String: [String: Any]])
        #expect(
            paths.values.allSatisfy {
                ($0["x-services"] as? [String])?.contains(service.rawValue) == true
            }
        )
        let components = try #require(part["components"] as? [String: [String: Any]])
        var named: Set<String> = []
        for (kind, members) in components where kind != "securitySchemes" {
            named.formUnion(members.keys.map { "#/components/\(kind)/\($0)" })
        }
        #expect(references(in: part) == named)
    }

    @Test func theStoresDocumentIsThatOfItsServices() throws {
        let whole = try object(Contract.openAPI())
        let paths = try #require(whole["paths"] as? [String: [String: Any]])
        let parts = try Contract.Service.allCases.map { service in
            try #require(object(Contract.openAPI(of: service))["paths"] as? [String: Any])
        }
        #expect(Set(paths.keys) == Set(parts.flatMap(\.keys)))
        let ids = paths.values.flatMap { item in
            item.values.compactMap { ($0 as? [String: Any])?["operationId"] as? String }
        }
        #expect(ids.count > 60 && Set(ids).count == ids.count)
    }

    @Test func theSameBytesAtEveryCall() throws {
        #expect(try Contract.openAPI() == Contract.openAPI())
        #expect(try Contract.asyncAPI() == Contract.asyncAPI())
    }

    @Test func truthValuesAndNumbersStayWhatTheyAre() throws {
        let text = String(decoding: try Contract.openAPI(of: .catalog), as: UTF8.self)
        #expect(text.contains(#""additionalProperties":false"#))
        #expect(text.contains(#""maximum":100000000000"#))
        #expect(text.contains(#""required":true"#))
    }

    /// A client that is not the store's own knows the header only from the contract.
    @Test(arguments: [
        "/v1/subscriptions/{id}/product", "/v1/subscriptions/{id}/payment-method",
        "/v1/admin/subscriptions/{id}/product",
    ])
    func whoTriedTooOftenIsPromisedATime(path: String) throws {
        let document = try object(Contract.openAPI())
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let call = try #require(paths[path]?["put"] as? [String: Any])
        let answers = try #require(call["responses"] as? [String: [String: Any]])
        let reference = try #require(answers["409"]?["$ref"] as? String)
        let name = try #require(reference.split(separator: "/").last)
        let components = try #require(document["components"] as? [String: [String: Any]])
        let answer = try #require(components["responses"]?[String(name)] as? [String: Any])
        let headers = try #require(answer["headers"] as? [String: Any])
        #expect(Array(headers.keys) == ["Retry-After"])
    }

    // MARK: - Topics and events

    @Test func everyTopicIsAChannelAndEveryChannelATopic() throws {
        let document = try object(Contract.asyncAPI())
        let channels = try #require(document["channels"] as? [String: [String: Any]])
        let names = Topics.all.flatMap { [$0.name, $0.deadLetters].compactMap(\.self) }
        #expect(Set(channels.keys) == Set(names))
        let operations = try #require(document["operations"] as? [String: Any])
        var expected: Set<String> = []
        for topic in Topics.all {
            let channel = try #require(channels[topic.name])
            #expect(channel["address"] as? String == topic.name)
            #expect(channel["x-key"] as? String == topic.key.rawValue)
            let bindings = try #require(channel["bindings"] as? [String: [String: Any]])
            let kafka = try #require(bindings["kafka"])
            let count = topic.fixedPartitions ?? Topics.partitionCount
            #expect(kafka["partitions"] as? Int == count)
            let configuration = try #require(kafka["topicConfiguration"] as? [String: [String]])
            #expect(
                configuration["cleanup.policy"] == [topic.isCompacted ? "compact" : "delete"]
            )
            expected.insert("\(topic.producer).sends.\(topic.name)")
            for consumer in topic.consumers {
                expected.insert("\(consumer).receives.\(topic.name)")
                let letters = try #require(topic.deadLetters)
                expected.insert("\(consumer).sends.\(letters)")
            }
        }
        #expect(Set(operations.keys) == expected)
    }

    @Test func everyEventTypeIsAMessageOfOneTopic() throws {
        let document = try object(Contract.asyncAPI())
        let channels = try #require(document["channels"] as? [String: [String: Any]])
        let messages = channels.filter { !$0.key.hasSuffix(".dead-letters") }.values.flatMap {
            ($0["messages"] as? [String: Any] ?? [:]).keys
        }
        let source = try String(
            contentsOf: Self.root.appending(path: "Shared/EventTypes/Events/EventType.swift"),
            encoding: .utf8
        )
        let types = source.matches(of: /rawValue: "([a-z.-]+\.v[0-9]+)"/).map { String($0.1) }
        #expect(types.sorted() == EventType.all.map(\.rawValue).sorted())
        #expect(messages.sorted() == types.sorted())
        let components = try #require(document["components"] as? [String: [String: Any]])
        #expect(
            Set(components["messages"]?.keys.map { $0 } ?? [])
                == Set(types + ["dead-letter.recorded.v1"])
        )
    }

    // MARK: - Schemas

    @Test func listsOfCodesAreThoseOfTheCode() throws {
        let schemas = try schemas(object(Contract.openAPI()))
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".map { String($0) }
        let codes = letters.flatMap { one in
            letters.flatMap { two in letters.map { one + two + $0 } }
        }
        #expect(
            schemas["Storefront"]?["enum"] as? [String] == codes.filter(Storefront.isWellFormed)
        )
        #expect(schemas["Currency"]?["enum"] as? [String] == codes.filter(Currency.isWellFormed))
    }

    /// The schemas are closed for this check: a fixture has no member that its schema does not name.
    @Test func everyFixtureFitsItsSchema() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "counterfoil-contracts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // A leftover does no harm.
        let openAPI = folder.appending(path: "openapi.json")
        let asyncAPI = folder.appending(path: "asyncapi.json")
        try Data(Contract.openAPI()).write(to: openAPI)
        try Data(Contract.asyncAPI()).write(to: asyncAPI)
        let output = try await ChildProcess.run(
            Self.root.appending(path: "Tests/Contracts/run").path,
            ["fixtures", openAPI.path, asyncAPI.path],
            environment: ProcessInfo.processInfo.environment
        )
        #expect(output.contains("fixtures of events and of HTTP fit their schemas"))
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Texts at the borders of every form.
    private static let texts: [String] =
        [
            "", "a", "A", "0", "7", "é", "a b", "a/b", "a.b", "-a", "_a", ".a", "a-", "a_b", "a:b",
            "en", "en-US", "en_US", "..", "~", "!", "\u{7F}", "W000YGJ15", "w000YGJ15",
            "01a1fcbf-18a0-7cd4-8e6e-0a1b2c3d4e5f", "01A1FCBF-18A0-7CD4-8E6E-0A1B2C3D4E5F",
            "01a1fcbf18a07cd48e6e0a1b2c3d4e5f", "01a1fcbf-18a0-7cd4-8e6e-0a1b2c3d4e5",
            // One character to a reader, and any number of code points to a database.
            "e\u{301}", "\u{301}", "en\u{301}", "1\u{301}", "1\u{20E3}", "٣", "f\u{FE0F}",
            "a" + String(repeating: "\u{301}", count: 100_000),
        ]
        + [18, 19, 35, 36, 63, 64, 65, 128, 129, 155, 156, 255, 256].flatMap { count in
            ["1", "f", "z"].map { String(repeating: $0, count: count) }
        }

    @Test func formsOfIdentifiersAreThoseOfTheCode() throws {
        let schemas = try schemas(object(Contract.openAPI()))
        func check(_ type: (some Identifier).Type, _ name: String) throws {
            let pattern = try #require(schemas[name]?["pattern"] as? String, "\(name)")
            let form = try Regex(pattern)
            for text in Self.texts {
                #expect(
                    (text.wholeMatch(of: form) != nil) == type.isWellFormed(text),
                    "\(name): \(text.prefix(80))"
                )
            }
        }
        try check(AccountID.self, "AccountID")
        try check(BundleID.self, "BundleID")
        try check(ProductID.self, "ProductID")
        try check(TransactionID.self, "TransactionID")
        try check(PurchaseIntentID.self, "PurchaseIntentID")
        try check(LanguageTag.self, "LanguageTag")
        try check(ContentVersion.self, "ContentVersion")
        try check(ContentDigest.self, "ContentDigest")
    }
}
