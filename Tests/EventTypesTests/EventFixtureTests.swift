import EventTypes
import Foundation
import Testing

/// Every event of version 1 as it stands on the wire.
///
/// A fixture of `v1` never changes: what breaks one of these tests breaks a consumer that is not
/// upgraded yet. A member that is added and may be missing has a fixture of its own in
/// `v1/optional`, named `EVENT.WHAT.json`.
@Suite struct EventFixtureTests {
    /// The members of the fixtures in `v1/unknown` that version 1 does not know.
    private static let unknownMembers: Set<String> = [
        "cause", "downloads", "environment", "familyShareable", "finishedBy", "offer", "size",
    ]

    func roundTrip<E: Event & Equatable>(_ type: E.Type, _ name: String) throws -> E {
        let bytes = try Fixture.bytes("events/v1/\(name).json")
        let event = try EventCoding.decode(type, from: bytes)
        let encoded = try EventCoding.encode(event)
        #expect(try Fixture.canonical(encoded) == Fixture.canonical(bytes))
        #expect(String(decoding: encoded, as: UTF8.self) == (try Fixture.canonical(bytes)))
        #expect(try EventCoding.decode(type, from: encoded) == event)
        return event
    }

    func surviving<E: Event & Equatable>(
        _ type: E.Type,
        _ name: String,
        without unknownMembers: Set<String> = Self.unknownMembers
    ) throws -> E {
        let bytes = try Fixture.bytes("events/v1/unknown/\(name).json")
        let event = try EventCoding.decode(type, from: bytes)
        let encoded = try EventCoding.encode(event)
        let known = try Fixture.canonical(bytes, without: unknownMembers)
        #expect(try Fixture.canonical(encoded) == known)
        #expect(known != (try Fixture.canonical(bytes)))
        return event
    }

    /// The names of the members of a value; the storage of a boxed one begins with an underscore.
    private func members(of value: some Any) -> Set<String> {
        let labels = Mirror(reflecting: value).children.compactMap(\.label)
        return Set(labels.map { String($0.trimmingPrefix("_")) })
    }

    /// The names of the members that an object has in fixtures.
    private func members(of object: String, in fixtures: [String]) throws -> Set<String> {
        var names: Set<String> = []
        for fixture in fixtures {
            let data = Data(try Fixture.bytes("events/v1/\(fixture).json"))
            let event = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
            names.formUnion(try #require(event[object] as? [String: Any]).keys)
        }
        return names
    }

    /// A member that may be missing has a fixture in `v1/optional`.
    @Test func everyMemberOfAProductOrATransactionIsInAFixture() throws {
        let product = try roundTrip(ProductChanged.self, "product.changed").product
        #expect(
            members(of: product)
                == (try members(
                    of: "product",
                    in: [
                        "product.changed", "optional/product.changed",
                        "optional/product.changed.subscription",
                        "optional/product.changed.offer",
                        "optional/product.changed.promotional",
                        "optional/product.changed.code",
                        "optional/product.changed.win-back",
                        "optional/product.changed.scheduled",
                    ]
                ))
        )
        let bought = try roundTrip(TransactionChanged.self, "transaction.purchased").transaction
        #expect(
            members(of: bought)
                == (try members(
                    of: "transaction",
                    in: [
                        "transaction.purchased", "transaction.failed", "transaction.refunded",
                        "optional/transaction.restored", "optional/transaction.purchased.renewal",
                        "optional/transaction.purchased.shared", "transaction.wait-changed",
                    ]
                ))
        )
    }

    @Test func aChangedProductReadsBack() throws {
        let product = try roundTrip(ProductChanged.self, "product.changed").product
        #expect(product.id.rawValue == "com.example.coins.100")
        #expect(product.version == 3)
        #expect(product.type == .consumable)
        #expect(product.isOnSale && !product.isRestorable && !product.isFamilyShareable)
        #expect(
            product.prices[Storefront(unchecked: "KWT")]
                == Money(minorUnits: 300, currency: Currency(unchecked: "KWD"))
        )
        #expect(product.localizations[LanguageTag(unchecked: "fr")]?.title == "100 pièces")
        #expect(
            product.deliveryPlan == [
                .credit(unit: "coins", amount: 100), .webhook(url: "https://merchant.example/hook"),
            ]
        )
    }

    @Test(arguments: [
        ("purchasing", TransactionState.purchasing), ("deferred", .deferred),
        ("purchased", .purchased), ("failed", .failed), ("restored", .restored),
        ("refunded", .purchased), ("refund-reversed", .purchased), ("approved", .deferred),
        ("wait-changed", .purchasing),
    ])
    func aChangedTransactionReadsBack(name: String, state: TransactionState) throws {
        let transaction = try roundTrip(TransactionChanged.self, "transaction.\(name)").transaction
        #expect(transaction.state == state)
        #expect(transaction.accountID == AccountID(unchecked: "ada"))
        #expect(transaction.requestedAt == StoreTime(millisecondsSinceEpoch: 1_795_237_175_000))
        #expect((transaction.failureReason == .insufficientFunds) == (name == "failed"))
        #expect((transaction.applicationUsername == nil) == (name == "failed"))
        #expect((transaction.revokedAt != nil) == (name == "refunded"))
        #expect((transaction.awaitsBuyer == true) == (name == "wait-changed"))
        #expect((transaction.originalID != transaction.id) == (name == "restored"))
        #expect(
            (transaction.purchasedAt != nil)
                == ["purchased", "restored", "refunded", "refund-reversed"].contains(name)
        )
        #expect(transaction.reason == (name == "restored" ? .restore : .purchase))
        #expect((transaction.refunds != nil) == name.hasPrefix("refund"))
    }

    @Test func aRefundOfAPartReadsBackAndTellsHowMuchWasGivenBack() throws {
        let event = try roundTrip(TransactionChanged.self, "optional/transaction.refunded.part")
        #expect(event.posting?.gross?.description == "0.16 USD")
        #expect(event.transaction.refunds?.map(\.number) == [1, 2])
        #expect(event.transaction.refundedAmount.description == "0.66 USD")
        // A third of the price, rounded down.
        #expect(event.transaction.refundedMilliPercent == 33_333)
        #expect(event.transaction.revokedAt == nil)
    }

    @Test func aReversedRefundGivesNothingBack() throws {
        let event = try roundTrip(TransactionChanged.self, "transaction.refund-reversed")
        #expect(event.transaction.refunds?.count == 1)
        #expect(event.transaction.refundedAmount.isZero)
        #expect(event.transaction.refundedMilliPercent == nil)
    }

    @Test func anActReadsBackWithItsReason() throws {
        let refund = try roundTrip(TransactionChanged.self, "optional/transaction.refunded.act")
        #expect(refund.act?.description == "by mia: Beschädigt: 箱が潰れた")
        let approval = try roundTrip(TransactionChanged.self, "optional/transaction.approved.act")
        #expect(approval.act == Act(decidedBy: AdministratorName(unchecked: "mia")))
        let change = try roundTrip(SubscriptionChanged.self, "optional/subscription.changed.act")
        #expect(change.act?.reason?.rawValue == "asked by phone")
    }

    @Test func aTransactionWithItsPostingReadsBack() throws {
        let event = try roundTrip(TransactionChanged.self, "optional/transaction.purchased")
        #expect(event.posting?.id.description == "01a1fcbf-18ad-744a-bd19-5f3c2ad0c0de")
        #expect(event.posting?.taxBasisPoints == 2000 && event.posting?.gross == nil)
    }

    @Test func aTransactionWithItsEnvironmentReadsBack() throws {
        let event = try roundTrip(TransactionChanged.self, "optional/transaction.restored")
        #expect(event.environment == "Sandbox")
    }

    @Test func aPaymentOfAnIntentThatResumesAnotherReadsBack() throws {
        let event = try roundTrip(TransactionChanged.self, "optional/transaction.purchasing")
        #expect(event.purchaseIntentID?.rawValue == "01a1fcbf-18ad-744a-bd19-5f3c2ad0c0aa")
        #expect(event.resumes == TransactionID(unchecked: "1000000000000000"))
    }

    @Test(arguments: ["stray-charged", "stray-charge-returned"])
    func aStrayChargeReadsBackWithItsAmount(name: String) throws {
        let event = try roundTrip(TransactionChanged.self, "transaction.\(name)")
        #expect(event.transaction.state == .failed)
        #expect(event.posting?.gross?.description == "1.98 USD")
    }

    @Test func anIssuedReceiptReadsBack() throws {
        let receipt = try roundTrip(ReceiptIssued.self, "receipt.issued")
        #expect(receipt.transaction.state == .purchased)
        #expect(receipt.signingChainID == "1")
        #expect(receipt.payloadSHA256.count == 64)
        #expect(receipt.issuedAt.millisecondsSinceEpoch == 1_795_237_175_300)
    }

    @Test func aReceiptWithItsSignatureReadsBack() throws {
        let receipt = try roundTrip(ReceiptIssued.self, "optional/receipt.issued")
        #expect(receipt.signing?.historyPosition == 3 && receipt.signing?.environment == "Sandbox")
        let again = try roundTrip(ReceiptReissued.self, "receipt.reissued")
        #expect(again.transaction == receipt.transaction && again.signing == receipt.signing)
        let upgraded = try roundTrip(ReceiptReissued.self, "optional/receipt.reissued.upgraded")
        #expect(upgraded.signing.isUpgraded == true && upgraded.transaction == nil)
    }

    @Test func aConfirmedDeliveryReadsBack() throws {
        let delivery = try roundTrip(DeliveryConfirmed.self, "delivery.confirmed")
        #expect(delivery.target == "1:webhook" && delivery.attempts == 2)
        #expect(try surviving(DeliveryConfirmed.self, "delivery.confirmed").attempts == 2)
    }

    @Test func aProductSaysWhoChangedIt() throws {
        let event = try roundTrip(ProductChanged.self, "optional/product.changed")
        #expect(event.changedBy == "ops" && event.reason == nil)
        #expect(event.product.isFamilyShareable)
        let explained = try roundTrip(ProductChanged.self, "optional/product.changed.reason")
        #expect(explained.reason == ActReason(rawValue: "The supplier has raised its price."))
    }

    @Test func aChangedQueueReadsBack() throws {
        let change = try roundTrip(QueueChanged.self, "queue.changed")
        #expect(change.revision == 12 && change.isDelivered && change.finishedAt == nil)
    }

    @Test func aQueueThatChangedByATransactionWithContentsReadsBack() throws {
        let change = try roundTrip(QueueChanged.self, "optional/queue.changed")
        let content = try #require(change.contents?.first)
        #expect(change.contents?.count == 1)
        #expect(content.contentIdentifier == change.transaction.productID)
        #expect(content.version.rawValue == "1.2" && content.length == 52_428_800)
        #expect(content.sha256.rawValue.hasPrefix("9f86d081"))
    }

    @Test func aFinishedTransactionReadsBack() throws {
        let change = try roundTrip(QueueChanged.self, "transaction.finished")
        #expect(change.revision == 13)
        #expect(change.finishedAt == StoreTime(millisecondsSinceEpoch: 1_795_237_176_000))
    }

    @Test func aChangedAccountReadsBack() throws {
        let account = try roundTrip(AccountChanged.self, "account.changed").account
        #expect(account.accountID == AccountID(unchecked: "ada") && account.version == 4)
        #expect(account.canMakePayments && account.storefront == Storefront(unchecked: "FRA"))
        #expect(account.purchaseIntents.map(\.quantity) == [2])
        let change = try roundTrip(QueueAccountChanged.self, "queue.account-changed")
        #expect(change == QueueAccountChanged(revision: 14, account: account))
    }

    @Test func anExtensionReadsBack() throws {
        let event = try roundTrip(TransactionChanged.self, "transaction.extended")
        #expect(event.transaction.subscription?.end != nil && event.posting == nil)
        _ = try surviving(TransactionChanged.self, "transaction.extended")
        let path = "optional/subscription.changed.extended"
        let change = try roundTrip(SubscriptionChanged.self, path)
        #expect(change.cause == .extended && change.subscription.extensions?.map(\.days) == [3])
        let period = change.subscription.period
        #expect(period.extendedFrom.map { period.end.duration(since: $0) } == .seconds(259_200))
    }

    @Test func anExtensionOfAllSubscribersReadsBack() throws {
        let change = try roundTrip(MassExtensionChanged.self, "mass-extension.changed")
        #expect(change.request.number == 7 && change.request.completedAt != nil)
        #expect(change.act?.decidedBy.rawValue == "mia" && change.failed == nil)
        let failure = try roundTrip(
            MassExtensionChanged.self,
            "optional/mass-extension.changed.failed"
        )
        #expect(failure.failed != nil && failure.request.storefronts == nil)
        _ = try surviving(MassExtensionChanged.self, "mass-extension.changed")
    }

    @Test func aRefundRequestReadsBack() throws {
        let change = try roundTrip(RefundRequestChanged.self, "refund-request.changed")
        #expect(change.request.state == .approved && change.request.refundNumber == 1)
        #expect(change.act?.decidedBy.rawValue == "mia")
        let unknown = try surviving(RefundRequestChanged.self, "refund-request.changed").request
        #expect(unknown.state == .unknown("escalated") && unknown.reason == .unknown("remorse"))
    }

    @Test func aShareReadsBack() throws {
        let name = "optional/transaction.purchased.shared"
        let shared = try roundTrip(TransactionChanged.self, name).transaction
        #expect(shared.reason == .familyShared && !shared.reason.isCopy)
        #expect(shared.sharedFrom?.rawValue == "2175520387210000")
        #expect(shared.reason.order(of: shared.id) == nil)
    }

    @Test func aSharedPeriodReadsBack() throws {
        let name = "optional/transaction.extended.shared"
        let period = try roundTrip(TransactionChanged.self, name).transaction.subscription
        let shared = try #require(period?.shared)
        #expect(shared.began == .renewed && shared.followed == .gracePeriodBegan)
        #expect(shared.state == .inGracePeriod)
        #expect(period?.serviceEnd == shared.gracePeriodEnd && period?.serviceEnd != period?.end)
    }

    @Test func aFamilyReadsBack() throws {
        let change = try roundTrip(FamilyChanged.self, "family.changed")
        #expect(change.family.members.map(\.isSharing) == [true, false])
        #expect(change.family.version == 2 && change.family.endedAt == nil)
        #expect(change.act?.reason?.rawValue == "Asked by mail")
        #expect(try surviving(FamilyChanged.self, "family.changed") == change)
    }

    @Test func aChangedClockReadsBack() throws {
        let change = try roundTrip(ClockChanged.self, "clock.changed")
        #expect(change.step == 4)
        guard case .running(let start, _, let rate, _) = change.clock else {
            Issue.record("it does not run: \(change)")
            return
        }
        #expect(start == StoreTime(millisecondsSinceEpoch: 1_797_915_575_000))
        #expect(rate == ClockRate("1h=1d"))
        let frozen = try surviving(ClockChanged.self, "clock.changed")
        #expect(frozen.clock == .frozen(at: start))
    }

    @Test func unknownFieldsAndValuesOfAProductSurvive() throws {
        let product = try surviving(ProductChanged.self, "product.changed").product
        #expect(product.type == .unknown("lootBox"))
        #expect(product.deliveryPlan == [.unknown(kind: "hologram"), .entitlement])
    }

    @Test(arguments: [
        "purchasing", "deferred", "purchased", "failed", "restored", "refunded",
        "refund-reversed", "approved", "stray-charged", "stray-charge-returned", "wait-changed",
    ])
    func unknownFieldsAndValuesOfATransactionSurvive(name: String) throws {
        let transaction = try surviving(TransactionChanged.self, "transaction.\(name)").transaction
        #expect(transaction.state == .unknown("quarantined"))
        #expect(transaction.reason == .unknown("gift") && !transaction.reason.isCopy)
        #expect(transaction.productType == .unknown("lootBox"))
        #expect(transaction.failureReason == .unknown("cosmicRay"))
        #expect(transaction.failureReason?.storeKitErrorCode == 0)
        #expect(transaction.deliveryPlan == [.unknown(kind: "hologram")])
    }

    @Test func unknownFieldsAndValuesOfAReceiptSurvive() throws {
        let receipt = try surviving(ReceiptIssued.self, "receipt.issued")
        #expect(receipt.transaction.state == .unknown("quarantined"))
        let again = try EventCoding.decode(
            ReceiptReissued.self,
            from: Fixture.bytes("events/v1/unknown/receipt.reissued.json")
        )
        #expect(again.transaction?.state == .unknown("quarantined"))
    }

    @Test(arguments: ["queue.changed", "transaction.finished"])
    func unknownFieldsAndValuesOfAQueueSurvive(name: String) throws {
        let change = try surviving(QueueChanged.self, name)
        #expect(change.transaction.productType == .unknown("lootBox"))
    }

    @Test func unknownFieldsAndValuesOfAnAccountSurvive() throws {
        let account = try surviving(AccountChanged.self, "account.changed").account
        #expect(account.storefront == nil && !account.canMakePayments)
        let change = try surviving(QueueAccountChanged.self, "queue.account-changed")
        #expect(change.account == account)
    }

    @Test func everyEventTypeHasBothFixtures() throws {
        let expected = EventType.all.map { $0.rawValue.replacing(".v1", with: ".json") }.sorted()
        #expect(try Fixture.names(in: "events/v1") == expected)
        #expect(try Fixture.names(in: "events/v1/unknown") == expected)
    }

    @Test func everyOptionalMemberReadsBack() throws {
        let names = try Fixture.names(in: "events/v1/optional").map {
            $0.replacing(".json", with: "")
        }
        #expect(!names.isEmpty)
        for name in names {
            let parts = name.split(separator: ".")
            let event = parts.prefix(2).joined(separator: ".")
            let path = "optional/\(name)"
            switch event {
            case "product.changed": _ = try roundTrip(ProductChanged.self, path)
            case "transaction.finished", "queue.changed": _ = try roundTrip(QueueChanged.self, path)
            case "receipt.issued": _ = try roundTrip(ReceiptIssued.self, path)
            case "receipt.reissued": _ = try roundTrip(ReceiptReissued.self, path)
            case "delivery.confirmed": _ = try roundTrip(DeliveryConfirmed.self, path)
            case "clock.changed": _ = try roundTrip(ClockChanged.self, path)
            case "account.changed": _ = try roundTrip(AccountChanged.self, path)
            case "subscription.changed": _ = try roundTrip(SubscriptionChanged.self, path)
            case "mass-extension.changed": _ = try roundTrip(MassExtensionChanged.self, path)
            case "queue.account-changed": _ = try roundTrip(QueueAccountChanged.self, path)
            case "queue.subscription-changed":
                _ = try roundTrip(QueueSubscriptionChanged.self, path)
            default:
                let isKnown = EventType.all.contains(EventType(rawValue: event + ".v1"))
                #expect(isKnown && event.hasPrefix("transaction."), "\(name).json is of no event")
                _ = try roundTrip(TransactionChanged.self, path)
            }
        }
    }

    @Test func missingFieldsAreNamed() throws {
        let error = #expect(throws: DecodingError.self) {
            try EventCoding.decode(ProductChanged.self, from: Array(#"{"product":{}}"#.utf8))
        }
        guard case .keyNotFound(let key, let context)? = error else {
            Issue.record("expected a missing key, got \(String(describing: error))")
            return
        }
        #expect(key.stringValue == "id")
        #expect(context.codingPath.map(\.stringValue) == ["product"])
    }
}
