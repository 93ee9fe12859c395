import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Families that share what they buy, from the command line to the receipts of the members.
    @Suite
    struct Families {
        @Test func aMemberGetsWhatAnotherOneBuysUntilTheFamilyEnds() async throws {
            try await withStore { store in
                try await store.sellShareablePro()
                let family = try await store.makeFamily("ada", "ben")
                let bought = try await store.buy(SampleCatalog.pro, as: "ada")
                let share = try await store.share(of: bought, with: "ben")
                #expect(share.transaction.reason == .familyShared)
                #expect(share.transaction.price.isZero)
                let signed = try await store.signedTransaction(share.transaction.id, of: "ben")
                #expect(signed["inAppOwnershipType"] as? String == "FAMILY_SHARED")
                let own = try await store.signedTransaction(bought.transactionID, of: "ada")
                #expect(own["inAppOwnershipType"] as? String == "PURCHASED")

                try await store.finish([bought])
                let ben = try store.client(account: "ben")
                try await ben.finishUntilDone(share.transaction.id)
                #expect(try await store.ownsPro("ben"))
                _ = try await store.family("end", family.id.rawValue, "--reason", "They parted.")
                try await eventually("the share to be taken away") {
                    try await store.ownsPro("ben") ? nil : true
                }
                #expect(try await store.ownsPro("ada"))
                try await eventually("the receipt to say so") {
                    let signed = try await store.signedTransaction(share.transaction.id, of: "ben")
                    return signed["revocationType"] as? String == "FAMILY_REVOKE" ? true : nil
                }
                try await store.agreedBooks()
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }

        @Test func aMemberLeavesByItselfAndLosesTheShare() async throws {
            try await withStore { store in
                try await store.sellShareablePro()
                _ = try await store.makeFamily("ada", "ben")
                let bought = try await store.buy(SampleCatalog.pro, as: "ada")
                _ = try await store.share(of: bought, with: "ben")
                let leave = store.urls.payments + Routes.familyLeave
                let stays = try await store.client(account: "ada").raw(.POST, leave)
                #expect(stays.status == 409 && stays.text.contains("family_organizer_stays"))
                for _ in 1...2 {
                    let left = try await store.client(account: "ben").raw(.POST, leave)
                    #expect(left.status == 200, "\(left.text)")
                }
                try await eventually("the share to be taken away") {
                    try await store.ownsPro("ben") ? nil : true
                }
                #expect(try await store.ownsPro("ada"))
            }
        }

        @Test func aRefundTakesTheShareAway() async throws {
            try await withStore { store in
                try await store.sellShareablePro()
                _ = try await store.makeFamily("ada", "ben")
                let bought = try await store.buy(SampleCatalog.pro, as: "ada")
                let share = try await store.share(of: bought, with: "ben")
                #expect(try await store.ownsPro("ben"))
                let refusal = try await store.counterfoil(
                    "refund",
                    share.transaction.id.rawValue
                )
                #expect(refusal.exit == .code(1), "\(refusal.output)")
                #expect(refusal.output.contains("shared by the family"))
                let refund = try await store.counterfoil("refund", bought.transactionID.rawValue)
                #expect(refund.exit == .code(0), "\(refund.output)")
                try await eventually("the share to be taken away") {
                    try await store.ownsPro("ben") ? nil : true
                }
            }
        }

        @Test func theShareOfAPeriodThatIsOverStaysWhenTheFamilyEnds() async throws {
            try await withStore { store in
                try await store.sellShareableClub()
                let family = try await store.makeFamily("ada", "ben")
                _ = try await store.setClock(Routes.adminClockFreeze)
                let bought = try await store.buy(SampleCatalog.club, as: "ada")
                let share = try await store.share(of: bought, with: "ben")
                try await store.finish([bought])
                let ben = try store.client(account: "ben")
                try await ben.finishUntilDone(share.transaction.id)
                let statuses = store.urls.receipts + Routes.subscriptionStatuses
                let running = try await ben.raw(.GET, statuses)
                    .decode(SubscriptionStatusesResponse.self).statuses
                #expect(running.map(\.status) == [1])
                let id = bought.transactionID.rawValue
                let off = try await store.counterfoil("subscriptions", "cancel", id)
                #expect(off.exit == .code(0), "\(off.output)")
                _ = try await store.advanceClock("32d", from: try await store.readClock().now)

                _ = try await store.family("end", family.id.rawValue)
                try await store.agreedBooks()
                let ended = try await ben.raw(.GET, statuses)
                    .decode(SubscriptionStatusesResponse.self).statuses
                #expect(ended.map(\.status) == [2])
                let told = try await store.signedTransaction(share.transaction.id, of: "ben")
                #expect(told["revocationDate"] == nil)
            }
        }

        @Test func aBadFamilyIsRefusedAndSaysWhy() async throws {
            try await withStore { store in
                let family = try await store.makeFamily("ada", "ben")
                for (arguments, words) in [
                    (["create", "--organizer", "cleo"], "Name another member"),
                    (["create", "--organizer", "cleo", "--member", "cleo"], "named twice"),
                    (["create", "--organizer", "cleo", "--member", "ben"], "another family"),
                    (["remove", family.id.rawValue, "ada"], "organizer"),
                    (["remove", family.id.rawValue, "zoe"], "not a member"),
                    (["remove", family.id.rawValue, "ben"], "end the family"),
                ] {
                    let app =
                        arguments.first == "create"
                        ? ["--app", StoreKeys.bundleID.rawValue] : []
                    let answer = try await store.counterfoil(["families"] + arguments + app)
                    #expect(answer.exit == .code(1), "\(arguments): \(answer.output)")
                    #expect(answer.output.contains(words), "\(arguments): \(answer.output)")
                }
                let listed = try await store.counterfoil("families", "list")
                #expect(listed.output.contains("ada with ben"), "\(listed.output)")
                // Neither has bought anything, so the ids may be wrong.
                let shown = try await store.counterfoil("families", "show", family.id.rawValue)
                #expect(shown.output.contains("unknown   ada, ben:"), "\(shown.output)")
            }
        }
    }
}

extension StoreHarness {
    /// Imports the catalog, with a non-consumable that families share.
    func sellShareablePro() async throws {
        try await importSampleCatalog()
        var draft = try #require(try SampleCatalog.document().products[SampleCatalog.pro])
        draft.isFamilyShareable = true
        let response = try await administrator.put(draft, as: SampleCatalog.pro)
        #expect((200..<300).contains(response.status), "\(response.text)")
    }

    /// Sells a subscription that families share.
    func sellShareableClub() async throws {
        var club = SampleCatalog.subscription()
        club.isFamilyShareable = true
        let response = try await administrator.put(club, as: SampleCatalog.club)
        #expect((200..<300).contains(response.status), "\(response.text)")
        try await waitUntilSellable(SampleCatalog.club)
    }

    /// Runs a command about families, and returns the family.
    func family(_ arguments: String...) async throws -> Family { try await family(arguments) }

    private func family(_ arguments: [String]) async throws -> Family {
        let answer = try await counterfoil(["families"] + arguments + ["--json"])
        #expect(answer.exit == .code(0), "\(answer.output)")
        let response = try JSONDecoder().decode(
            FamilyResponse.self,
            from: Data(answer.output.utf8)
        )
        return try #require(response.family)
    }

    func makeFamily(_ organizer: String, _ members: String...) async throws -> Family {
        try await family(
            ["create", "--app", StoreKeys.bundleID.rawValue, "--organizer", organizer]
                + members.flatMap { ["--member", $0] }
        )
    }

    /// Waits until a member has a purchase of another one, delivered.
    func share(
        of bought: AcceptedPayment,
        with member: String
    ) async throws -> QueueChanged {
        let client = try client(account: member)
        return try await eventually("the share to be delivered") {
            try await client.unfinished().value.transactions.first {
                $0.transaction.sharedFrom == bought.transactionID && $0.isDelivered
            }
        }
    }

    fileprivate func ownsPro(_ account: String) async throws -> Bool {
        try await client(account: account).entitlements().value.entitlements.contains {
            $0.productID == SampleCatalog.pro && $0.revokedAt == nil
        }
    }

    /// The signed transaction of an account, as its payload says it.
    fileprivate func signedTransaction(
        _ id: TransactionID,
        of account: String
    ) async throws -> [String: Any] {
        let client = try client(account: account)
        let jws = try await client.raw(.GET, urls.receipts + Routes.receipt(id))
            .decode(ReceiptResponse.self).signedTransaction
        let part = try #require(jws.split(separator: ".").dropFirst().first)
        let payload = Data(try #require(StrictBase64.decode(part)))
        return try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
    }
}
