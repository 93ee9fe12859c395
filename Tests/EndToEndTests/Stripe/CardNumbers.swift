import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Numbers of cards in every text that the contract of `payments` has in a body.
    @Suite
    struct CardNumbers {
        private static let number = "4242424242424242"
        /// Texts that name an app or an account: a number there is a name like any other.
        private static let names: Set<String> = ["bundleID", "organizer"]

        /// A body with the number of a card in one of its texts.
        private struct Attempt {
            let method: HTTPMethod
            let path: String
            let isAdministrators: Bool
            let field: String
            let body: [UInt8]
        }

        @Test func noRouteOfTheContractTakesOne() async throws {
            var options = StoreOptions()
            options.processor = .stripe
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let (client, admin) = (try store.client(account: "ada"), try store.administrator)
                let payments = store.urls.payments
                let attempts = try Self.attempts(
                    in: try await StoreHTTP.send(.GET, payments + "/openapi.json").text
                )
                #expect(attempts.count > 15, "The contract was not read: \(attempts.count)")
                var refused: Set<String> = []
                for (place, attempt) in attempts.enumerated() {
                    let url = payments + attempt.path
                    let answer: StoreResponse
                    if attempt.isAdministrators {
                        answer = try await admin.raw(attempt.method, url, body: attempt.body)
                    } else {
                        let headers = [
                            ("content-type", "application/json"), ("idempotency-key", "\(place)"),
                        ]
                        answer = try await client.raw(
                            attempt.method,
                            url,
                            body: attempt.body,
                            headers: headers
                        )
                    }
                    let what = "\(attempt.method) \(attempt.path), \(attempt.field)"
                    #expect((400..<500).contains(answer.status), "\(what): \(answer.text)")
                    if answer.text.contains("card_number_refused") { refused.insert(attempt.field) }
                }
                let texts: Set = ["applicationUsername", "paymentMethod", "word"]
                #expect(refused.isSuperset(of: texts), "\(refused)")
                #expect(!store.process(.payments).log().contains(Self.number))
                let pattern = "%\(Self.number)%"
                let kept = try await store.withDatabase(of: .payments) { connection in
                    try connection.query(
                        """
                        SELECT count(*) FROM outbox
                        WHERE unpacked_json(data) LIKE \(pattern)
                        """
                    ).first.map { try $0.decode(Int64.self) }
                }
                #expect(kept == 0)
            }
        }

        /// Each text of each JSON body in a contract, with a number in its place.
        ///
        /// The calls of merchants' servers have tokens of their own, and are left out.
        private static func attempts(in contract: String) throws -> [Attempt] {
            let document = try object(in: contract)
            let components = document["components"] as? [String: Any] ?? [:]
            let schemas = components["schemas"] as? [String: Any] ?? [:]
            var attempts: [Attempt] = []
            for (path, item) in document["paths"] as? [String: Any] ?? [:] {
                for (method, operation) in item as? [String: Any] ?? [:] {
                    guard let operation = operation as? [String: Any],
                        let security = operation["security"] as? [[String: Any]],
                        let token = security.first?.keys.first,
                        ["accountToken", "administratorToken"].contains(token),
                        let body = operation["requestBody"] as? [String: Any],
                        let contents = body["content"] as? [String: Any],
                        let content = contents["application/json"] as? [String: Any]
                    else { continue }
                    for field in texts(of: content["schema"], schemas) {
                        var sample = example(in: content)
                        sample[field] = number
                        attempts.append(
                            Attempt(
                                method: HTTPMethod(rawValue: method.uppercased()),
                                path: address(path),
                                isAdministrators: token == "administratorToken",
                                field: field,
                                body: Array(try JSONSerialization.data(withJSONObject: sample))
                            )
                        )
                    }
                }
            }
            return attempts
        }

        /// A path with something in place of each parameter.
        private static func address(_ path: String) -> String {
            path.replacing("{id}", with: TransactionID(number: 1).rawValue)
                .replacing("{account}", with: "ada")
                .replacing("{number}", with: "1")
        }

        /// The names of a schema's members that are texts of any content.
        private static func texts(of schema: Any?, _ schemas: [String: Any]) -> [String] {
            let members = resolve(schema, schemas)["properties"] as? [String: Any] ?? [:]
            return members.keys.sorted().filter { name in
                let member = resolve(members[name], schemas)
                let types = member["type"] as? [String] ?? [member["type"] as? String ?? ""]
                return types.contains("string") && member["enum"] == nil && !names.contains(name)
            }
        }

        private static func resolve(_ schema: Any?, _ schemas: [String: Any]) -> [String: Any] {
            let schema = schema as? [String: Any] ?? [:]
            guard let reference = schema["$ref"] as? String,
                let name = reference.split(separator: "/").last
            else { return schema }
            return resolve(schemas[String(name)], schemas)
        }

        private static func example(in content: [String: Any]) -> [String: Any] {
            let examples = content["examples"] as? [String: Any] ?? [:]
            let first = examples.sorted { $0.key < $1.key }.first?.value as? [String: Any]
            return first?["value"] as? [String: Any] ?? [:]
        }

        private static func object(in text: String) throws -> [String: Any] {
            let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8))
            return try #require(parsed as? [String: Any])
        }
    }
}
