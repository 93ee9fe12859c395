import EventTypes
import Ledger
import Testing

@Suite struct MovementPostingTests {
    private func entries(
        _ side: LedgerAccount,
        _ amount: Int64,
        fee: Int64
    ) -> [LedgerAccount: Int64] {
        let currency = Currency(unchecked: "EUR")
        let time = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
        let posting = LedgerRules.processorMovement(
            id: PostingID(time: time),
            number: 3,
            side: side,
            amount: Money(minorUnits: amount, currency: currency),
            fee: Money(minorUnits: fee, currency: currency),
            time: time
        )
        #expect(posting?.transactionID ?? .ofNoTransaction == .ofNoTransaction)
        #expect(posting?.number ?? 3 == 3)
        let entries = posting?.entries.map { ($0.account, $0.amount.minorUnits) } ?? []
        return Dictionary(uniqueKeysWithValues: entries)
    }

    @Test func aChargeReachesTheBalanceLessItsFee() {
        #expect(
            entries(.processorPayments, 1190, fee: 65)
                == [.processorPayments: -1190, .processorBalance: 1125, .processorFees: 65]
        )
    }

    @Test func aDisputeTakesItsAmountAndAFee() {
        #expect(
            entries(.processorPayments, -1190, fee: 1500)
                == [.processorPayments: 1190, .processorBalance: -2690, .processorFees: 1500]
        )
    }

    @Test func aPayoutGoesToTheBank() {
        #expect(entries(.bank, -1125, fee: 0) == [.bank: 1125, .processorBalance: -1125])
    }

    @Test func aFeeThatIsTakenByItselfIsOneEntry() {
        #expect(
            entries(.processorFees, -200, fee: 0)
                == [.processorFees: 200, .processorBalance: -200]
        )
        #expect(entries(.processorPayments, 0, fee: 0) == [:])
    }
}
