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
        .grantFree, .awaitBuyer(true), .fail(.insufficientFunds), .awaitApproval, .declineApproval,
        .expireApproval,
        .refund(number: 1, amount: usd(999), revokes: true), .reverseRefund(number: 1),
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
                "purchased+purchase", "purchased", "purchased", "wait-changed",
                "failed(insufficientFunds)", "deferred", "notDeferred", "notDeferred",
                "notPurchased", "notPurchased",
            ]
        )
    }

    @Test func fromDeferred() {
        #expect(
            row(record(.deferred)) == [
                "purchased+purchase", "purchased", "purchased", "notPurchasing",
                "failed(insufficientFunds)", "unchanged", "failed(approvalDeclined)",
                "failed(approvalExpired)", "notPurchased", "notPurchased",
            ]
        )
    }

    @Test func fromDeferredAndApproved() {
        #expect(
            row(record(.deferred, approval: .approve)) == [
                "purchased+purchase", "purchased", "purchased", "notPurchasing",
                "failed(insufficientFunds)", "failed(processorRefused)", "decidedOtherwise",
                "decidedOtherwise", "notPurchased", "notPurchased",
            ]
        )
    }

    @Test func fromPurchased() {
        #expect(
            row(record(.purchased)) == [
                "unchanged", "unchanged", "unchanged", "notPurchasing", "ended", "ended", "ended",
                "ended", "refunded+refund", "refundUnknown(number: 1)",
            ]
        )
    }

    @Test func fromPurchasedWithoutACharge() {
        #expect(
            row(record(.purchased, price: usd(0))) == [
                "chargeIsStray", "unchanged", "unchanged", "notPurchasing", "ended", "ended",
                "ended", "ended", "refundTooLarge(rest: 0.00 USD)", "refundUnknown(number: 1)",
            ]
        )
    }

    @Test func fromRefunded() {
        #expect(
            row(refunded()) == [
                "unchanged", "unchanged", "unchanged", "notPurchasing", "ended", "ended", "ended",
                "ended", "unchanged", "refund-reversed+refund_reversal",
            ]
        )
    }

    @Test func fromRefundedAndReversed() {
        #expect(
            row(refunded(reversedAt: startTime)).suffix(2) == ["unchanged", "unchanged"]
        )
    }

    @Test func aCopyIsNotRefunded() {
        let copy = record(.purchased, price: usd(0)) { $0.reason = .ownedAgain }
        #expect(
            machine.apply(.refund(number: 1, amount: usd(0), revokes: true), to: copy)
                == .refused(.isCopy)
        )
    }

    @Test func theRefundOfAPartLeavesTheBuyerTheProduct() throws {
        let parts: [(number: Int, amount: Int64, revokes: Bool)] = [
            (2, 300, false), (1, 600, false), (3, 99, true),
        ]
        var current = record(.purchased)
        var revoked: [Bool] = []
        for part in parts {
            current = try moved(
                .refund(number: part.number, amount: usd(part.amount), revokes: part.revokes),
                current
            )
            revoked.append(current.transaction.revokedAt != nil)
        }
        #expect(revoked == [false, false, true])
        // Whichever is confirmed first, they are in the order of their numbers.
        #expect(current.transaction.refunds?.map(\.number) == [1, 2, 3])
        #expect(current.transaction.refundedAmount == usd(999))
        current = try moved(.reverseRefund(number: 1), current)
        #expect(current.transaction.revokedAt == machine.time, "Refund 3 still takes it away.")
        current = try moved(.reverseRefund(number: 3), current)
        #expect(current.transaction.revokedAt == nil)
        #expect(current.transaction.refundedAmount == usd(300))
        #expect(current.transaction.version == 8)
    }

    private func moved(
        _ command: TransactionCommand,
        _ record: TransactionRecord
    ) throws -> TransactionRecord {
        guard case .moved(let after, _, _) = machine.apply(command, to: record) else {
            throw PaymentError(.unknownRow)
        }
        return after
    }

    /// A purchase that was refunded in full.
    private func refunded(reversedAt: StoreTime? = nil) -> TransactionRecord {
        record(.purchased) { transaction in
            transaction.revokedAt = reversedAt == nil ? startTime : nil
            transaction.refunds = [
                Refund(
                    number: 1,
                    amount: usd(999),
                    refundedAt: startTime,
                    revokes: true,
                    reversedAt: reversedAt
                )
            ]
        }
    }

    @Test func fromFailed() {
        #expect(
            row(record(.failed)) == [
                "chargeIsStray", "ended", "ended", "notPurchasing", "unchanged", "ended",
                "notDeferred", "notDeferred", "notPurchased", "notPurchased",
            ]
        )
    }

    @Test func fromFailedForLackOfApproval() {
        #expect(row(record(.failed) { $0.failureReason = .approvalDeclined })[6] == "unchanged")
        #expect(row(record(.failed) { $0.failureReason = .approvalExpired })[7] == "unchanged")
    }

    @Test func fromRestored() {
        #expect(
            row(record(.restored)) == [
                "chargeIsStray", "ended", "ended", "notPurchasing", "ended", "ended",
                "notDeferred", "notDeferred", "notPurchased", "notPurchased",
            ]
        )
    }

    @Test func fromAStateOfANewerVersion() {
        #expect(
            row(record(.unknown("paused"))) == Array(repeating: "stateUnknown", count: 10)
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

    @Test func aPaymentAwaitsItsBuyerUntilItsNextChange() throws {
        let waiting = try moved(.awaitBuyer(true), record(.purchasing))
        #expect(waiting.transaction.awaitsBuyer == true && waiting.transaction.version == 4)
        #expect(waiting.transaction.state == .purchasing)
        #expect(machine.apply(.awaitBuyer(true), to: waiting) == .unchanged)
        #expect(machine.apply(.awaitBuyer(false), to: record(.purchasing)) == .unchanged)
        let commands: [TransactionCommand] = [
            .awaitBuyer(false), .confirmCharge, .fail(.interrupted), .awaitApproval,
        ]
        for command in commands {
            let after = try moved(command, waiting)
            #expect(after.transaction.awaitsBuyer == nil && after.transaction.version == 5)
        }
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
        for round in 0..<2000 {
            var current = record(.purchasing)
            var balance: Int64 = 0
            var hasEnded = false
            for step in 0..<16 {
                var command = Self.commands.randomElement(using: &random) ?? .grantFree
                if case .refund = command {
                    command = .refund(
                        number: step + 1,
                        amount: usd(Int64.random(in: 1...999, using: &random)),
                        revokes: Bool.random(using: &random)
                    )
                } else if case .reverseRefund = command {
                    command = .reverseRefund(number: Int.random(in: 1...16, using: &random))
                }
                guard
                    case .moved(let next, let type, let posting) = machine.apply(
                        command,
                        to: current
                    )
                else { continue }
                #expect(next.transaction.version == current.transaction.version + 1)
                let laterTypes: Set<EventType> = [.transactionRefunded, .transactionRefundReversed]
                #expect(!hasEnded || laterTypes.contains(type))
                #expect(
                    (next.transaction.awaitsBuyer == true) == (type == .transactionWaitChanged)
                )
                balance += posting?.entries.first?.amount.minorUnits ?? 0
                current = next
                hasEnded = [.purchased, .failed].contains(next.transaction.state)
                let isPaid = current.transaction.state == .purchased
                let paid = isPaid ? current.transaction.refundableAmount.minorUnits : 0
                #expect(balance == -paid && paid >= 0, "round \(round)")
                let revoking = (current.transaction.refunds ?? []).filter {
                    $0.revokes && $0.reversedAt == nil
                }
                #expect((current.transaction.revokedAt != nil) == !revoking.isEmpty)
            }
        }
    }
}
