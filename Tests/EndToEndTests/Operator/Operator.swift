import EventTypes
import Foundation
import Messaging
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// `counterfoil` on a running store, with the operator's own credentials.
    @Suite
    struct Operator {
        @Test func theStoreIsSeenAsItIs() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy(as: "ada")
                try await store.finish([payment])

                try await eventually("nobody to be behind") {
                    let lags =
                        try await store.json("lag", "--json")["consumers"] as? [[String: Any]]
                    let behind = lags?.compactMap { $0["events"] as? Int }
                    return behind == Array(repeating: 0, count: 9) ? true : nil
                }
                let services = try await store.json("status", "--json")["services"]
                let found = try #require(services as? [[String: Any]])
                #expect(
                    found.compactMap { $0["health"] as? String }
                        == Array(repeating: "ready", count: 4)
                )
                #expect(found.compactMap { $0["version"] as? String }.count == 4)
                let text = try await store.counterfoil("status")
                #expect(text.exit == .code(0))
                #expect(text.output.contains(/unfinished by apps +0/))
                // Output to a file has no colors.
                #expect(!text.output.contains("\u{1B}"))

                try await whatIsWrongSaysWhatToDo(store)
                try await aConsumerThatIsAwayIsBehind(store)
                try await pricesChangeAlone(store)
            }
        }

        /// Errors have a message and a documented exit code, and cause no changes.
        private func whatIsWrongSaysWhatToDo(_ store: StoreHarness) async throws {
            let variable = "COUNTERFOIL_RECEIPTS_DATABASE_URL"
            let away = try await store.counterfoil(
                "lag",
                settings: [variable: "postgresql://me:geheim@127.0.0.1:\(try freePort())/receipts"]
            )
            #expect(away.exit == .code(69))
            #expect(away.output.contains(variable) && !away.output.contains("geheim"))
            let stranger = try await store.counterfoil(
                "dead-letters",
                "list",
                settings: [
                    variable: store.databaseURL(.receipts, role: "stranger")
                ]
            )
            #expect(stranger.exit == .code(77))
            let service = try await store.counterfoil(
                "status",
                settings: ["COUNTERFOIL_CATALOG_URL": "http://127.0.0.1:\(try freePort())"]
            )
            #expect(service.exit == .code(69))
            #expect(service.output.contains("away") && service.output.contains("cannot be reached"))
            let unknown = try await store.counterfoil("dead-letters", "show", "receipts", "77")
            #expect(unknown.exit == .code(1))
            let reasonless = try await store.counterfoil("dead-letters", "discard", "receipts", "1")
            #expect(reasonless.exit == .code(64))
        }

        private func aConsumerThatIsAwayIsBehind(_ store: StoreHarness) async throws {
            await store.process(.receipts).kill()
            _ = try await store.buy(as: "grace")
            let lag = try await eventually("receipts to be behind") {
                let lags = try await store.json("lag", "--json")["consumers"] as? [[String: Any]]
                return lags?.first {
                    $0["consumer"] as? String == "receipts" && $0["events"] as? Int == 1
                }
            }
            #expect(lag["topic"] as? String == Topics.paymentsTransactions.name)
            let late = try await store.counterfoil("lag", "--max-age", "0")
            #expect(late.exit == .code(1))
            let status = try await store.counterfoil("status")
            #expect(status.exit == .code(69))
            try await store.process(.receipts).start()
            try await eventually(every: .milliseconds(200), "receipts to catch up") {
                try await store.counterfoil("lag", "--max-age", "0").exit == .code(0) ? true : nil
            }
        }

        private func pricesChangeAlone(_ store: StoreHarness) async throws {
            let product = SampleCatalog.coins.rawValue
            let before = try await store.json("products", "export")
            let changed = try await store.counterfoil("products", "price", product, "USA", "1.49")
            #expect(changed.exit == .code(0))
            #expect(changed.output.contains("→ 1.49 USD, version 2"))
            let again = try await store.counterfoil("products", "price", product, "USA", "1.49")
            #expect(again.output.contains("as it was"))
            for wrong in [
                ["price", product, "USA", "1.499"], ["price", product, "ISL", "5"],
                ["price", product, "USA", "five"],
            ] {
                let refused = try await store.counterfoil(
                    "products",
                    wrong[0],
                    wrong[1],
                    wrong[2],
                    wrong[3]
                )
                #expect(refused.exit == .code(64), "\(refused)")
            }
            let unknown = try await store.counterfoil(
                "products",
                "price",
                "com.example.no",
                "USA",
                "1"
            )
            #expect(unknown.exit == .code(1))
            var expected = before["products"] as? [String: [String: Any]]
            var prices = expected?[product]?["prices"] as? [String: [String: Any]]
            prices?["USA"]?["minorUnits"] = 149
            expected?[product]?["prices"] = prices
            let after = try await store.json("products", "export")["products"]
            #expect(after as? NSDictionary == expected as NSDictionary?)
            try await aStoreKitFileChangesNothingOfItsOwnStore(store, after as? NSDictionary)
        }

        private func aStoreKitFileChangesNothingOfItsOwnStore(
            _ store: StoreHarness,
            _ before: NSDictionary?
        ) async throws {
            let file = store.directory + "/Store.storekit"
            let export = try await store.counterfoil("products", "export", "--storekit", file)
            #expect(export.exit == .code(0), "\(export)")
            let imported = try await store.counterfoil("products", "import", file)
            #expect(imported.exit == .code(0), "\(imported)")
            #expect(imported.output.contains("0 created, 0 changed"), "\(imported)")
            let after = try await store.json("products", "export")["products"]
            #expect(after as? NSDictionary == before)
        }

        @Test func deadLettersAreReleasedInOrderOrPutAwayWithAReason() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let first = try await store.buy(as: "mallory")
                try await store.expectWhole([first])
                let message = try await PoisonMessages.poison(
                    of: .transactionPurchased,
                    after: first,
                    in: store
                )
                try await store.publish([message])
                let dead = try await eventually("the poison to be listed") {
                    try await store.deadLetters(["--json"]).first
                }
                #expect(dead["state"] as? String == "dead")
                let number = "\(try #require(dead["id"] as? Int))"
                let parked = try await store.buy(as: "mallory")
                try await eventually("mallory's next purchase to be parked") {
                    try await store.deadLetters(["--json", "--key", "mallory"]).count >= 2
                        ? true : nil
                }

                // An event that is not repaired is refused again, and the order is kept.
                let refused = try await store.counterfoil("dead-letters", "redrive", "mallory")
                #expect(refused.exit == .code(1))
                #expect(refused.output.contains("refused again"))
                let shown = try await store.counterfoil("dead-letters", "show", "receipts", number)
                #expect(shown.output.contains("no such thing"))
                #expect(shown.output.contains("counterfoil dead-letters redrive mallory"))

                let reason = "sent by a test"
                let discarded = try await store.counterfoil(
                    "dead-letters",
                    "discard",
                    "receipts",
                    number,
                    "--reason",
                    reason
                )
                #expect(discarded.exit == .code(0))
                let twice = try await store.counterfoil(
                    "dead-letters",
                    "discard",
                    "receipts",
                    number,
                    "--reason",
                    "again"
                )
                #expect(twice.exit == .code(1))
                #expect(twice.output.contains("discarded already"))
                try await store.discardPoison(except: .receipts)
                try await store.expectWhole([first, parked])
                let all = try await store.deadLetters(["--json", "--all"]).filter {
                    $0["service"] as? String == "receipts"
                }
                let acts = all.map { $0["act"] as? [String: String] ?? [:] }
                #expect(acts.first == ["decidedBy": StoreKeys.administrator, "reason": reason])
                #expect(all.dropFirst().allSatisfy { $0["state"] as? String == "redriven" })
                let none = try await store.counterfoil("dead-letters", "redrive", "mallory")
                #expect(none.exit == .code(1) && none.output.contains("dead or parked"))
            }
        }
    }
}

extension StoreHarness {
    /// Returns the JSON output of `counterfoil`.
    func json(_ arguments: String...) async throws -> [String: Any] {
        let answer = try await counterfoil(arguments)
        guard answer.exit == .code(0) else { throw HarnessError("\(answer)") }
        let value = try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
        return value as? [String: Any] ?? [:]
    }

    fileprivate func deadLetters(_ options: [String]) async throws -> [[String: Any]] {
        let answer = try await counterfoil(["dead-letters", "list"] + options)
        guard answer.exit == .code(0) else { throw HarnessError("\(answer)") }
        let value = try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
        return (value as? [String: Any])?["deadLetters"] as? [[String: Any]] ?? []
    }
}
