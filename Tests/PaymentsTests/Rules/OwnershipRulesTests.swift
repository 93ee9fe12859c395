import EventTypes
import Testing

@testable import Payments

/// Of two purchases of a non-consumable one is charged (trap 22).
@Suite struct OwnershipRulesTests {
    let first = TransactionID(number: 1)
    let second = TransactionID(number: 2)
    let third = TransactionID(number: 3)
    let later = startTime.advanced(by: .seconds(5))

    var charging: Ownership { Ownership(holder: first, ownedAt: nil) }
    var owned: Ownership { Ownership(holder: first, ownedAt: startTime) }
    var granted: OwnershipRules.Verdict {
        .grant(originalID: first, originalPurchasedAt: startTime)
    }

    func record(
        _ state: TransactionState,
        _ type: ProductType = .nonConsumable,
        originalID: TransactionID? = nil,
        revokedAt: StoreTime? = nil
    ) -> TransactionRecord {
        var transaction = transaction(state, type: type)
        transaction.id = first
        transaction.originalID = originalID ?? first
        if originalID != nil { transaction.reason = .ownedAgain }
        transaction.revokedAt = revokedAt
        return TransactionRecord(transaction: transaction, taxBasisPoints: 0)
    }

    func change(_ holder: TransactionID, ownedAt: StoreTime?) -> OwnershipChange {
        OwnershipChange(
            key: record(.purchasing).ownershipKey,
            holder: holder,
            ownedAt: ownedAt
        )
    }

    // MARK: - A new purchase

    @Test func whoHoldsTheOwnershipGoesAhead() {
        #expect(OwnershipRules.verdict(on: first, meeting: charging) == .proceed)
        #expect(OwnershipRules.verdict(on: first, meeting: nil) == .proceed)
    }

    @Test func theSecondPurchaseWaitsForTheFirst() {
        #expect(OwnershipRules.verdict(on: second, meeting: charging) == .wait(for: first))
    }

    @Test func aFreePurchaseWaitsForNobody() {
        #expect(OwnershipRules.verdict(on: second, isFree: true, meeting: charging) == .proceed)
    }

    @Test(arguments: [true, false]) func whatIsOwnedIsGranted(isFree: Bool) {
        #expect(OwnershipRules.verdict(on: second, isFree: isFree, meeting: owned) == granted)
    }

    // MARK: - Those who waited

    @Test func theOldestWaiterIsChargedAndTheOthersWaitForIt() {
        let verdicts = OwnershipRules.verdicts(
            on: [.init(id: second), .init(id: third)],
            meeting: nil
        )
        #expect(verdicts == [.proceed, .wait(for: second)])
    }

    @Test func aWaiterWhoseAccountMayNotPayFailsAndTheNextIsCharged() {
        let verdicts = OwnershipRules.verdicts(
            on: [.init(id: second, failure: .storefrontChanged), .init(id: third)],
            meeting: nil
        )
        #expect(verdicts == [.fail(.storefrontChanged), .proceed])
    }

    @Test func waitersWaitForWhoeverIsBeingChargedByNow() {
        let verdicts = OwnershipRules.verdicts(
            on: [.init(id: second), .init(id: third)],
            meeting: charging
        )
        #expect(verdicts == [.wait(for: first), .wait(for: first)])
    }

    @Test func waitersAreGrantedWhatIsOwnedThoughTheirAccountMayNotPay() {
        let verdicts = OwnershipRules.verdicts(
            on: [.init(id: second, failure: .paymentsNotAllowed), .init(id: third)],
            meeting: owned
        )
        #expect(verdicts == [granted, granted])
    }

    // MARK: - Changes

    @Test func aPurchaseOwnsAndARefundGivesUp() {
        #expect(
            OwnershipRules.change(from: nil, to: record(.purchased), at: later)
                == change(first, ownedAt: startTime)
        )
        #expect(
            OwnershipRules.change(from: nil, to: record(.purchased, revokedAt: later), at: later)
                == change(first, ownedAt: nil)
        )
    }

    @Test func aReversalOwnsAgainAndTheRefundOfAPartChangesNothing() {
        let (bought, revoked) = (record(.purchased), record(.purchased, revokedAt: later))
        #expect(
            OwnershipRules.change(from: revoked, to: bought, at: later)
                == change(first, ownedAt: startTime)
        )
        #expect(OwnershipRules.change(from: bought, to: bought, at: later) == nil)
        #expect(OwnershipRules.change(from: revoked, to: revoked, at: later) == nil)
    }

    @Test(arguments: [TransactionState.failed, .deferred])
    func whatIsNotPurchasedGivesUpItsClaim(state: TransactionState) {
        #expect(
            OwnershipRules.change(from: nil, to: record(state), at: later)
                == change(first, ownedAt: nil)
        )
    }

    @Test func aGrantedCopyAndAConsumableOwnNothing() {
        let copy = record(.purchased, originalID: second)
        #expect(OwnershipRules.change(from: nil, to: copy, at: later) == nil)
        #expect(
            OwnershipRules.change(from: nil, to: record(.purchased, .consumable), at: later) == nil
        )
    }

    @Test func whoeverIsPurchasedFirstOwnsUntilARefund() {
        let purchase = change(second, ownedAt: later)
        let ofSecond = Ownership(holder: second, ownedAt: later)
        #expect(OwnershipRules.apply(purchase, to: nil) == ofSecond)
        // A purchase overtakes a holder that is only being charged, but not an owner.
        #expect(OwnershipRules.apply(purchase, to: charging) == ofSecond)
        #expect(OwnershipRules.apply(purchase, to: owned) == owned)
        let refund = change(second, ownedAt: nil)
        #expect(OwnershipRules.apply(refund, to: ofSecond) == nil)
        #expect(OwnershipRules.apply(refund, to: owned) == owned)
    }
}
