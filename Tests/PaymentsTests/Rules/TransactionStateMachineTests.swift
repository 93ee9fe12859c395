import EventTypes
import Ledger
import StoreAPI
import Testing
import TestSupport

@testable import Payments

/// All pairs of a state and a command.
@Suite struct TransactionStateMachineTests {
    static let original = TransactionID(number: 3)
    static let commands: [TransactionCommand] = [
        .confirmCharge, .grantOwned(originalID: original, originalPurchasedAt: startTime),
        .grantFree, .fail(.insufficientFunds), .awaitApproval, .declineApproval, .expireApproval,
        .refund,
    ]

    let machine = TransactionStateMachine(
        time: startTime.advanced(by: .seconds(60)),
        postingID: PostingID(time: startTime)
    )

    /// A short name for the effect of a command.
    func word(_ move: TransactionMove) -> String {
        switch move {
        case .moved(let record, let type, let posting):
            let money = posting.map { "+" + $0.kind.rawValue } ?? ""
            let reason = record.transaction.failureReason.map { "(\($0))" } ?? ""
            return "\(type.rawValue.dropFirst("transaction.".count).dropLast(3))\(reason)\(money)"
        case .unchanged: return "unchanged"
        case .refused(let refusal): return "\(refusal)"
        }
    }

    func row(_ record: TransactionRecord) -> [String] {
        Self.commands.map { word(machine.apply($0, to: record)) }
    }

    func record(
        _ state: TransactionState,
        price: Money = usd(999),
        approval: ApprovalRequest.Decision? = nil,
        _ change: (inout Transaction) -> Void = { _ in }
    ) -> TransactionRecord {
        var transaction = transaction(state, price: price)
        change(&transaction)
        return TransactionRecord(
            transaction: transaction,
            approval: approval,
            taxBasisPoints: 1900
        )
    }

    @Test func fromPurchasing() {
        #expect(
            row(record(.purchasing)) == [
                "purchased+purchase", "purchased", "purchased", "failed(insufficientFunds)",
                "deferred", "notDeferred", "notDeferred", "notPurchased",
            ]
        )
    }

    @Test func fromDeferred() {
        #expect(
            row(record(.deferred)) == [
                "purchased+purchase", "purchased", "purchased", "failed(insufficientFunds)",
                "unchanged", "failed(approvalDeclined)", "failed(approvalExpired)", "notPurchased",
            ]
        )
    }

    @Test func fromDeferredAndApproved() {
        #expect(
            row(record(.deferred, approval: .approve)) == [
                "purchased+purchase", "purchased", "purchased", "failed(insufficientFunds)",
                "failed(processorRefused)", "decidedOtherwise", "decidedOtherwise", "notPurchased",
            ]
        )
    }

    @Test func fromPurchased() {
        #expect(
            row(record(.purchased)) == [
                "unchanged", "unchanged", "unchanged", "ended", "ended", "ended", "ended",
                "refunded+refund",
            ]
        )
    }

    @Test func fromPurchasedWithoutACharge() {
        #expect(
            row(record(.purchased, price: usd(0))) == [
                "chargeIsStray", "unchanged", "unchanged", "ended", "ended", "ended", "ended",
                "refunded",
            ]
        )
    }

    @Test func fromRefunded() {
        #expect(
            row(record(.purchased) { $0.revokedAt = startTime }) == [
                "unchanged", "unchanged", "unchanged", "ended", "ended", "ended", "ended",
                "unchanged",
            ]
        )
    }

    @Test func fromFailed() {
        #expect(
            row(record(.failed)) == [
                "chargeIsStray", "ended", "ended", "unchanged", "ended", "notDeferred",
                "notDeferred", "notPurchased",
            ]
        )
    }

    @Test func fromFailedForLackOfApproval() {
        #expect(row(record(.failed) { $0.failureReason = .approvalDeclined })[5] == "unchanged")
        #expect(row(record(.failed) { $0.failureReason = .approvalExpired })[6] == "unchanged")
    }

    @Test func fromRestored() {
        #expect(
            row(record(.restored)) == [
                "chargeIsStray", "ended", "ended", "ended", "ended", "notDeferred", "notDeferred",
                "notPurchased",
            ]
        )
    }

    @Test func fromAStateOfANewerVersion() {
        #expect(
            row(record(.unknown("paused"))) == Array(repeating: "stateUnknown", count: 8)
        )
    }

    @Test func aMoveRaisesTheVersionByOneAndChangesWhatTheStateSays() throws {
        guard
            case .moved(let after, _, let posting) = machine.apply(
                .confirmCharge,
                to: record(.purchasing)
            )
        else { return #expect(Bool(false)) }
        var expected = transaction(.purchased)
        expected.version = 4
        expected.purchasedAt = machine.time
        expected.originalPurchasedAt = machine.time
        #expect(after.transaction == expected)
        #expect(posting?.entries.last?.amount == usd(160))
    }

    @Test func whatIsOwnedIsGrantedUnderItsOriginalAndCostsNothing() {
        guard
            case .moved(let after, _, nil) = machine.apply(
                Self.commands[1],
                to: record(.purchasing)
            )
        else { return #expect(Bool(false)) }
        #expect(after.transaction.originalID == Self.original)
        #expect(after.transaction.originalPurchasedAt == startTime)
        #expect(after.transaction.purchasedAt == machine.time)
        #expect(after.transaction.price == usd(0))
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func anyInterleavingEndsInOneStateWithMoneyToMatch(seed: RandomSeed) {
        var random = seed.generator()
        for _ in 0..<2000 {
            var current = record(.purchasing)
            var balance: Int64 = 0
            var hasEnded = false
            for _ in 0..<12 {
                let command = Self.commands.randomElement(using: &random) ?? .refund
                guard
                    case .moved(let next, let type, let posting) = machine.apply(
                        command,
                        to: current
                    )
                else { continue }
                #expect(next.transaction.version == current.transaction.version + 1)
                #expect(!hasEnded || type == .transactionRefunded)
                balance += posting?.entries.first?.amount.minorUnits ?? 0
                current = next
                hasEnded = [.purchased, .failed].contains(next.transaction.state)
            }
            let isPaid =
                current.transaction.state == .purchased
                && current.transaction.revokedAt == nil
            #expect(balance == (isPaid ? -current.transaction.price.minorUnits : 0))
        }
    }
}
