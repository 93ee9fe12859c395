import ClockAndIDs
import EventTypes
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

@Suite struct PaymentRulesTests {
    let france = Storefront(unchecked: "FRA")

    func refusal(
        of request: PaymentRequest,
        _ product: Product? = product(),
        account: AccountStanding = AccountStanding(),
        intent: PurchaseIntent? = nil,
        methodRefusal: PaymentRefusal? = nil
    ) -> PaymentRefusal? {
        let price = PaymentRules.price(
            of: request,
            account: account,
            product: product,
            intent: intent,
            methodRefusal: methodRefusal
        )
        return switch price {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }

    @Test(arguments: 1...10) func upToTenCostTheUnitPriceTimesTheQuantity(quantity: Int) {
        let price = PaymentRules.price(
            of: request(quantity: quantity),
            product: product(),
            methodRefusal: nil
        )
        #expect(price == .success(usd(999 * Int64(quantity))))
    }

    @Test(arguments: [0, -1, 11, Int.max]) func anyOtherQuantityIsRefused(quantity: Int) {
        #expect(refusal(of: request(quantity: quantity)) == .quantityOutOfRange(max: 10))
    }

    @Test func aNonConsumableIsBoughtOneAtATime() {
        #expect(
            refusal(of: request(quantity: 2), product("film", .nonConsumable))
                == .quantityOutOfRange(max: 1)
        )
    }

    @Test func whatTheCatalogDoesNotSellIsRefused() {
        #expect(refusal(of: request(), nil) == .productUnknown)
        #expect(refusal(of: request(), product(isOnSale: false)) == .productUnavailable)
        #expect(refusal(of: request(storefront: "FRA")) == .productUnavailable)
        #expect(refusal(of: request(), product("x", .unknown("bundle"))) == .productUnavailable)
    }

    @Test(arguments: [
        (ProductType.consumable, true), (.nonConsumable, true), (.nonRenewingSubscription, true),
        (.autoRenewableSubscription, false), (.unknown("bundle"), false),
    ])
    func eachTypeIsSoldOrRefused(_ type: ProductType, isSold: Bool) {
        #expect((refusal(of: request("x"), product("x", type)) == nil) == isSold)
    }

    @Test func aSubscriptionIsRefusedByNameWhateverElseIsWrong() {
        let club = product("club", .autoRenewableSubscription, isOnSale: false)
        let refused = refusal(of: request("club", quantity: 0, storefront: "FRA"), club)
        #expect(refused == .productTypeNotSoldYet(club.id))
        let problem = PaymentRefusal.productTypeNotSoldYet(club.id).problem.problem
        #expect(problem.status == 422 && problem.code == "product_type_not_sold_yet")
        #expect(problem.detail.contains("club is an auto-renewable subscription"))
    }

    @Test func aPriceThatChangedIsRefusedWithTheNewOne() {
        #expect(refusal(of: request(price: usd(899))) == .stalePrice(current: usd(999)))
    }

    @Test func anotherCurrencyIsRefusedEvenForTheSameNumber() {
        let euros = Money(minorUnits: 999, currency: Currency(unchecked: "EUR"))
        #expect(
            refusal(of: request(price: euros)) == .wrongCurrency(expected: usd(0).currency)
        )
    }

    @Test func aPriceBeyond64BitsIsRefused() {
        let most = usd(.max)
        #expect(
            refusal(of: request(quantity: 2, price: most), product(price: most)) == .priceOverflow
        )
        #expect(refusal(of: request(quantity: 1, price: most), product(price: most)) == nil)
    }

    @Test func anUnknownPaymentMethodIsRefused() {
        #expect(
            refusal(of: request(), methodRefusal: .paymentMethodUnknown) == .paymentMethodUnknown
        )
    }

    @Test(arguments: SandboxPaymentMethod.allCases.map(\.method) + ["card_1", ""])
    func withoutAProcessorEveryMethodIsRefused(method: PaymentMethod) async {
        let nobody = UnconfiguredProcessor()
        let refused = nobody.refusal(of: method)
        #expect(refused == .paymentMethodNotAvailable(method))
        #expect(refusal(of: request(), methodRefusal: refused) == refused)
        #expect(nobody.lane(of: method) == nil)
        let problem = refused?.problem.problem
        #expect(problem?.status == 422 && problem?.code == "payment_method_not_available")
        #expect(problem?.detail.contains("Sandbox") == method.rawValue.hasPrefix("sandbox_"))
    }

    @Test func whatIsFoundWithoutAProcessorWaitsAndDoesNotFail() async {
        let id = IDSource.random.attempt(at: startTime)
        let charge = ChargeRequest(
            key: CallKey(attemptID: id, kind: .charge),
            paymentMethod: "sandbox_success",
            amount: usd(999),
            isApproved: false
        )
        let nobody = UnconfiguredProcessor()
        let refund = UndoCall(
            key: CallKey(attemptID: id, kind: .refund),
            undoes: "x",
            paymentMethod: charge.paymentMethod,
            amount: usd(999)
        )
        let inquiry = Inquiry(key: charge.key, paymentMethod: charge.paymentMethod)
        await confirmation(expectedCount: 5) { isAnswered in
            await nobody.charge([charge]) { if ($0, $1) == (id, .unavailable) { isAnswered() } }
            await nobody.inquire([inquiry]) { if ($0, $1) == (id, .unavailable) { isAnswered() } }
            await nobody.cancel([inquiry]) { if ($0, $1) == (id, .unavailable) { isAnswered() } }
            await nobody.refund([refund]) { if ($0, $1) == (id, .unavailable) { isAnswered() } }
            await nobody.reverse([refund]) { if ($0, $1) == (id, .unavailable) { isAnswered() } }
        }
    }

    @Test func aLongApplicationUsernameIsRefused() {
        let name = String(repeating: "x", count: 256)
        #expect(refusal(of: request(username: name)) == .applicationUsernameTooLong(max: 255))
        #expect(refusal(of: request(username: String(name.dropFirst()))) == nil)
        let combined = "e" + String(repeating: "\u{301}", count: 255)
        #expect(refusal(of: request(username: combined)) == .applicationUsernameTooLong(max: 255))
        let wide = String(repeating: "𝔸", count: 255)
        #expect(refusal(of: request(username: wide)) == nil)
    }

    @Test func anAccountThatMayNotPayIsRefusedBeforeAnythingElse() {
        let blocked = AccountStanding(canMakePayments: false, storefront: france)
        #expect(refusal(of: request(quantity: 0), nil, account: blocked) == .paymentsNotAllowed)
    }

    @Test func anotherStorefrontThanTheAccountsIsRefusedWithTheAccounts() {
        let account = AccountStanding(storefront: france)
        #expect(refusal(of: request(), account: account) == .storefrontChanged(current: france))
        let american = AccountStanding(storefront: Storefront(unchecked: "USA"))
        #expect(refusal(of: request(), account: american) == nil)
    }

    @Test func anIntentIsPaidAsItWasBegun() {
        let intent = PurchaseIntent(
            id: PurchaseIntentID(time: startTime),
            productID: product().id,
            quantity: 2,
            createdAt: startTime
        )
        let paying = request(quantity: 2, intent: intent.id)
        #expect(refusal(of: paying, intent: intent) == nil)
        #expect(refusal(of: paying, intent: nil) == .purchaseIntentUnknown)
        #expect(
            refusal(of: request(quantity: 1, intent: intent.id), intent: intent)
                == .purchaseIntentUnknown
        )
        #expect(
            refusal(of: request("gems", quantity: 2, intent: intent.id), intent: intent)
                == .purchaseIntentUnknown
        )
    }

    @Test func theFirstAnswerIsReadBackFromAnyLaterVersion() {
        let first = PaymentRules.transaction(
            id: TransactionID(number: 7),
            for: request(),
            of: alice.accountID,
            in: alice.bundleID,
            product: product(),
            price: usd(999),
            time: startTime
        )
        var later = first
        later.version = 3
        later.state = .purchased
        later.originalID = TransactionID(number: 2)
        later.price = usd(0)
        later.purchasedAt = startTime
        later.originalPurchasedAt = startTime
        later.revokedAt = startTime
        #expect(PaymentRules.firstAnswer(of: later, chargeAmount: usd(999)) == first)
    }

    /// The members of a transaction, each as text.
    private func members(_ transaction: Transaction) -> [String: String] {
        Dictionary(
            Mirror(reflecting: transaction).children.map { ($0.label ?? "", "\($0.value)") },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// A new member of a transaction has to be copied or cleared on purpose, and is then named here.
    @Test func aFirstAnswerAndARestoreCopyOrClearEachMember() throws {
        let full = Transaction(
            id: TransactionID(number: 2),
            originalID: TransactionID(number: 1),
            reason: .ownedAgain,
            version: 3,
            state: .purchased,
            accountID: alice.accountID,
            bundleID: alice.bundleID,
            productID: ProductID(unchecked: "pass"),
            productVersion: 4,
            productType: .nonConsumable,
            quantity: 1,
            storefront: Storefront(unchecked: "USA"),
            price: usd(1),
            applicationUsername: "ada",
            deliveryPlan: [.entitlement],
            requestedAt: startTime,
            purchasedAt: startTime,
            originalPurchasedAt: startTime,
            failureReason: .insufficientFunds,
            revokedAt: startTime,
            refunds: [],
            subscription: TransactionPeriod(
                terms: SubscriptionTerms(
                    groupID: SubscriptionGroupID(unchecked: "club"),
                    level: 1,
                    period: SubscriptionPeriod(1, .month)
                ),
                start: startTime,
                end: startTime,
                charge: RenewalChargeKey(
                    subscriptionID: TransactionID(number: 1),
                    period: 2,
                    epoch: 1,
                    attempt: 1
                )
            ),
            sharedFrom: TransactionID(number: 9),
            awaitsBuyer: true
        )
        let before = members(full)
        #expect(!before.values.contains("nil"), "Give each member a value.")
        let copied: Set = [
            "accountID", "bundleID", "productID", "productVersion", "productType", "quantity",
            "storefront", "applicationUsername", "deliveryPlan", "sharedFrom",
        ]
        let first = members(PaymentRules.firstAnswer(of: full, chargeAmount: usd(999)))
        #expect(
            Set(before.keys.filter { before[$0] == first[$0] })
                == copied.union(["id", "requestedAt"])
        )
        let copy = PaymentRules.restored(
            id: TransactionID(number: 5),
            original: full,
            time: startTime.advanced(by: .seconds(1))
        )
        let restored = members(copy)
        #expect(
            Set(before.keys.filter { before[$0] == restored[$0] })
                == copied.union(["originalID", "originalPurchasedAt"])
        )
        // The period is copied, and names the transaction that paid it. The identity of its charge
        // is not copied, because nothing was charged.
        var period = full.subscription
        period?.charge = nil
        period?.paidBy = full.id
        #expect(copy.subscription == period)
        var redeemed = full
        redeemed.subscription?.redeems = PeriodOffer(
            type: .promotional,
            mode: .freeTrial,
            period: SubscriptionPeriod(1, .week),
            price: usd(0)
        )
        let again = PaymentRules.restored(id: copy.id, original: redeemed, time: startTime)
        #expect(again.subscription?.redeems == nil, "A restore redeems nothing.")
    }

    @Test func theFingerprintTellsEveryFieldApart() {
        var trial = request()
        trial.offer = ShownOffer(type: .introductory)
        var named = trial
        named.offer?.id = OfferID(unchecked: "a")
        var signed = request()
        signed.promotionalOffer = "a"
        var allowed = request()
        allowed.introductoryOfferEligibility = "a"
        let discounts: [PaymentRequest] = ["a", "b"].map { nonce in
            var discount = request()
            discount.discount = PaymentDiscount(
                identifier: "a",
                keyIdentifier: "a",
                nonce: nonce,
                signature: "a",
                timestamp: 1
            )
            return discount
        }
        let requests =
            discounts + [
                trial, named, signed, allowed, request(), request("gems"), request(quantity: 2),
                request(storefront: "FRA"),
                request(price: usd(99)), request(method: .decline), request(username: ""),
                request(username: "a"), request(intent: PurchaseIntentID(time: startTime)),
                request(intent: PurchaseIntentID(time: startTime)),
            ]
        #expect(
            Set(Mirror(reflecting: request()).children.map(\.label)) == [
                "productID", "quantity", "storefront", "price", "paymentMethod",
                "applicationUsername", "purchaseIntentID", "offer", "discount",
                "promotionalOffer", "introductoryOfferEligibility",
            ],
            "Put a new member into the fingerprint, and a request with another value above."
        )
        let fingerprints = Set(requests.map { RequestFingerprint.of($0, in: alice.bundleID) })
        #expect(fingerprints.count == requests.count)
        #expect(
            RequestFingerprint.of(request(), in: alice.bundleID)
                == RequestFingerprint.of(request(), in: alice.bundleID)
        )
        #expect(
            RequestFingerprint.of(request(), in: alice.bundleID)
                != RequestFingerprint.of(request(), in: BundleID(unchecked: "com.example.other"))
        )
    }

    @Test func pausesDoubleUpToACeilingAndTriesAreBounded() {
        let policy = AttemptPolicy(
            callsMax: 3,
            pause: .milliseconds(100),
            pauseMax: .milliseconds(500)
        )
        #expect(
            (1...5).map { policy.pause(afterCalls: $0).milliseconds } == [100, 200, 400, 500, 500]
        )
        #expect(policy.pause(afterCalls: 1000) == .milliseconds(500))
        var attempt = ProcessorAttempt(
            transactionID: TransactionID(number: 1),
            kind: .charge,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "",
            amount: usd(1),
            callCount: 2
        )
        #expect(!policy.isExhausted(attempt))
        attempt.callCount = 3
        #expect(policy.isExhausted(attempt))
        let time = startTime.onMachines
        attempt.firstCalledAt = time
        #expect(policy.fails(attempt, isFinal: true, at: time))
        // While a call may still arrive, the charge does not fail.
        #expect(!policy.fails(attempt, isFinal: false, at: time))
        #expect(policy.fails(attempt, isFinal: false, at: time.advanced(by: policy.doubtMax)))
        attempt.kind = .refund
        #expect(!policy.isExhausted(attempt))
    }
}
