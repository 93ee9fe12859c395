import ClockAndIDs
import EventTypes
import ServiceKit
import StoreAPI
import Testing

@testable import Payments

@Suite struct AccountRulesTests {
    let account = Account(accountID: alice.accountID, bundleID: alice.bundleID)
    let france = Storefront(unchecked: "FRA")

    func intent(quantity: Int = 1) -> PurchaseIntentRequest {
        PurchaseIntentRequest(
            bundleID: alice.bundleID,
            productID: product().id,
            quantity: quantity
        )
    }

    @Test func whatAChangeLeavesOutStaysAsItIs() throws {
        var blocked = account
        blocked.canMakePayments = false
        let moved = AccountChangeRequest(bundleID: alice.bundleID, storefront: france)
        let changed = try AccountRules.apply(moved, to: blocked).get()
        #expect(!changed.canMakePayments && changed.storefront == france)
        let allowed = AccountChangeRequest(bundleID: alice.bundleID, canMakePayments: true)
        let again = try AccountRules.apply(allowed, to: changed).get()
        #expect(again.canMakePayments && again.storefront == france)
    }

    @Test func aChangeThatSaysNothingIsRefused() {
        let nothing = AccountChangeRequest(bundleID: alice.bundleID)
        #expect(AccountRules.apply(nothing, to: account) == .failure(.changeEmpty))
    }

    @Test func onlyWhatIsSoldCanBeBegun() {
        func refusal(_ product: Product?, _ quantity: Int = 1) -> AccountRefusal? {
            AccountRules.refusal(of: intent(quantity: quantity), for: account, product: product)
        }
        #expect(refusal(product()) == nil)
        #expect(refusal(nil) == .payment(.productUnknown))
        #expect(refusal(product(isOnSale: false)) == .payment(.productUnavailable))
        let club = product("club", .autoRenewableSubscription)
        #expect(refusal(club) == .payment(.productTypeNotSoldYet(club.id)))
        #expect(refusal(product(), 0) == .payment(.quantityOutOfRange(max: 10)))
        #expect(
            refusal(product("film", .nonConsumable), 2) == .payment(.quantityOutOfRange(max: 1))
        )
    }

    @Test func aPurchaseIsBegunOnceUnderItsKey() {
        let earlier = PurchaseIntent(
            id: PurchaseIntentID(time: startTime),
            productID: product().id,
            quantity: 1,
            createdAt: startTime
        )
        func verdict(_ quantity: Int, after earlier: PurchaseIntent?) -> AccountRules.Beginning {
            AccountRules.beginning(
                intent(quantity: quantity),
                after: earlier,
                for: account,
                // The first answer holds, whatever has become of the product.
                product: earlier == nil ? product() : nil
            )
        }
        #expect(verdict(1, after: nil) == .begin)
        #expect(verdict(1, after: earlier) == .begun(earlier))
        #expect(verdict(2, after: earlier) == .refused(.payment(.idempotencyKeyReused)))
        #expect(verdict(11, after: nil) == .refused(.payment(.quantityOutOfRange(max: 10))))
    }

    @Test func anIntentIsDeclinedOnceAndOnlyByItsAccount() {
        #expect(AccountRules.declining(hasEnded: false) == .decline)
        #expect(AccountRules.declining(hasEnded: true) == .ended)
        #expect(AccountRules.declining(hasEnded: nil) == .refused(.purchaseIntentUnknown))
    }

    @Test func newAndAcceptedPaymentsMeetTheSameObstacles() {
        let blocked = AccountStanding(canMakePayments: false)
        let moved = AccountStanding(storefront: france)
        let (usa, germany) = (request().storefront, Storefront(unchecked: "DEU"))
        for storefront in [usa, germany, france] {
            #expect(AccountRules.failure(of: blocked, in: storefront) == .paymentsNotAllowed)
            #expect(AccountRules.failure(of: AccountStanding(), in: storefront) == nil)
            #expect(
                AccountRules.failure(of: moved, in: storefront)
                    == (storefront == france ? nil : .storefrontChanged)
            )
        }
        func price(_ account: AccountStanding) -> Result<Money, PaymentRefusal> {
            PaymentRules.price(
                of: request(),
                account: account,
                product: product(),
                methodRefusal: nil
            )
        }
        #expect(price(blocked) == .failure(.paymentsNotAllowed))
        #expect(price(moved) == .failure(.storefrontChanged(current: france)))
    }

    @Test func whatIsNotSoldWhereTheAccountBuysCannotBeBegun() {
        var moved = account
        moved.storefront = france
        #expect(
            AccountRules.refusal(of: intent(), for: moved, product: product())
                == .payment(.productUnavailable)
        )
    }

    @Test func openIntentsAreBounded() {
        var busy = account
        let open = PurchaseIntent(
            id: PurchaseIntentID(time: startTime),
            productID: product().id,
            quantity: 1,
            createdAt: startTime
        )
        let max = AccountRules.purchaseIntentsMax
        busy.purchaseIntents = Array(repeating: open, count: max - 1)
        #expect(AccountRules.refusal(of: intent(), for: busy, product: product()) == nil)
        busy.purchaseIntents.append(open)
        #expect(
            AccountRules.refusal(of: intent(), for: busy, product: product())
                == .tooManyPurchaseIntents(max: max)
        )
    }
}
