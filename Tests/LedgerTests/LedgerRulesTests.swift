import EventTypes
import Ledger
import Testing
import TestSupport

@Suite struct LedgerRulesTests {
    let time = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
    let buyer = AccountID(unchecked: "alice")
    let transaction = TransactionID(number: 7)

    func money(_ amount: Int64, _ currency: String = "EUR") -> Money {
        Money(minorUnits: amount, currency: Currency(unchecked: currency))
    }

    func purchase(_ gross: Money, tax: Int) -> Posting? {
        LedgerRules.purchase(
            id: PostingID(time: time),
            transactionID: transaction,
            buyer: buyer,
            gross: gross,
            taxBasisPoints: tax,
            time: time
        )
    }

    func refund(_ gross: Money, after refunded: Int64 = 0, tax: Int) -> Posting? {
        LedgerRules.refund(
            id: PostingID(time: time),
            transactionID: transaction,
            number: 1,
            buyer: buyer,
            gross: gross,
            refunded: Money(minorUnits: refunded, currency: gross.currency),
            taxBasisPoints: tax,
            time: time
        )
    }

    @Test func aPurchaseTakesTheGrossPriceAndSplitsOffItsTax() {
        #expect(
            purchase(money(1190), tax: 1900)?.entries == [
                JournalEntry(account: .buyer(buyer), amount: money(-1190)),
                JournalEntry(account: .storeRevenue, amount: money(1000)),
                JournalEntry(account: .taxPayable, amount: money(190)),
            ]
        )
    }

    @Test func withoutATaxRateThereIsNoTaxLine() {
        #expect(
            purchase(money(999), tax: 0)?.entries == [
                JournalEntry(account: .buyer(buyer), amount: money(-999)),
                JournalEntry(account: .storeRevenue, amount: money(999)),
            ]
        )
    }

    @Test func aRefundReversesThePurchaseAndShowsInItsContraAccount() {
        #expect(
            refund(money(1190), tax: 1900)?.entries == [
                JournalEntry(account: .buyer(buyer), amount: money(1190)),
                JournalEntry(account: .refunds, amount: money(-1000)),
                JournalEntry(account: .taxPayable, amount: money(-190)),
            ]
        )
    }

    @Test func theTaxOfPartsAddsUpToTheTaxOfTheWhole() {
        // Of 0.04 at 19 % the tax is 0.01; of each single cent it would be nothing.
        let parts = (0..<4).map { refund(money(1), after: $0, tax: 1900)?.entries ?? [] }
        let tax = parts.joined().filter { $0.account == .taxPayable }.map(\.amount.minorUnits)
        #expect(tax == [-1])
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func refundsAndReversalsInAnyOrderLeaveTheSumsRight(seed: RandomSeed) throws {
        var random = seed.generator()
        for _ in 0..<500 {
            let price = Int64.random(in: 1...5000, using: &random)
            let rate = Int.random(in: 0...10_000, using: &random)
            var sums: [LedgerAccount: Int64] = [:]
            func post(_ posting: Posting?) {
                for entry in posting?.entries ?? [] {
                    sums[entry.account, default: 0] += entry.amount.minorUnits
                }
            }
            post(purchase(money(price), tax: rate))
            var open: [Int64] = []
            var refunded: Int64 = 0
            func check() {
                #expect(sums.values.reduce(0, +) == 0)
                #expect(sums[.buyer(buyer), default: 0] == refunded - price)
                let tax = sums[.taxPayable, default: 0]
                #expect(tax >= 0)
                let expected =
                    LedgerRules.tax(containedIn: money(price), basisPoints: rate).minorUnits
                    - LedgerRules.tax(containedIn: money(refunded), basisPoints: rate).minorUnits
                #expect(tax == expected)
                // What the store keeps is never negative.
                #expect(sums[.storeRevenue, default: 0] + sums[.refunds, default: 0] >= 0)
            }
            for _ in 0..<20 {
                if let amount = open.randomElement(using: &random),
                    refunded == price || Bool.random(using: &random)
                {
                    open.remove(at: try #require(open.firstIndex(of: amount)))
                    refunded -= amount
                    post(
                        LedgerRules.refundReversal(
                            id: PostingID(time: time),
                            transactionID: transaction,
                            number: 1,
                            buyer: buyer,
                            gross: money(amount),
                            remaining: money(refunded),
                            taxBasisPoints: rate,
                            time: time
                        )
                    )
                } else if refunded < price {
                    let amount = Int64.random(in: 1...(price - refunded), using: &random)
                    post(refund(money(amount), after: refunded, tax: rate))
                    open.append(amount)
                    refunded += amount
                }
                check()
            }
            let rest = price - refunded
            if rest > 0 { post(refund(money(rest), after: refunded, tax: rate)) }
            #expect(sums[.buyer(buyer), default: 0] == 0 && sums[.taxPayable, default: 0] == 0)
            #expect(sums[.storeRevenue, default: 0] == -sums[.refunds, default: 0])
        }
    }

    @Test func aPriceOfZeroHasNoPosting() {
        #expect(purchase(money(0), tax: 1900) == nil)
        #expect(refund(money(0), tax: 0) == nil)
    }

    @Test func aStrayChargeAndItsReturnLeaveNothingAtTheProcessor() throws {
        let charge = try #require(
            LedgerRules.strayCharge(
                id: PostingID(time: time),
                transactionID: transaction,
                buyer: buyer,
                gross: money(500),
                time: time
            )
        )
        let back = try #require(
            LedgerRules.strayChargeReturn(
                id: PostingID(time: time),
                transactionID: transaction,
                number: 1,
                buyer: buyer,
                gross: money(500),
                time: time
            )
        )
        let sum = (charge.entries + back.entries).filter { $0.account == .processorClearing }
            .reduce(0) { $0 + $1.amount.minorUnits }
        #expect(sum == 0)
    }

    @Test(arguments: [
        (1, 1900, 0), (2, 1900, 0), (3, 1900, 0), (4, 1900, 1), (100, 1900, 16), (1190, 1900, 190),
        (999, 2000, 167), (1, 10_000, 1), (0, 700, 0),
    ])
    func taxIsRoundedToTheNearestMinorUnit(gross: Int64, rate: Int, tax: Int64) {
        #expect(LedgerRules.tax(containedIn: money(gross), basisPoints: rate) == money(tax))
    }

    @Test func theLargestAmountHasATaxWithoutOverflow() {
        let tax = LedgerRules.tax(containedIn: money(.max), basisPoints: 10_000)
        #expect(tax.minorUnits == 4_611_686_018_427_387_904)
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func everyPostingBalancesWhateverTheAmountAndTheRate(seed: RandomSeed) {
        var random = seed.generator()
        for _ in 0..<5000 {
            let gross = money(
                Int64.random(in: 1...(.max), using: &random)
                    >> Int64.random(in: 0...62, using: &random),
                "JPY"
            )
            let rate = Int.random(in: 0...10_000, using: &random)
            guard !gross.isZero else { continue }
            for posting in [purchase(gross, tax: rate), refund(gross, tax: rate)] {
                #expect(posting.map { Posting.isBalanced($0.entries) } == true)
            }
        }
    }

    @Test func entriesThatDoNotSumToZeroInOneCurrencyAreNoPosting() {
        #expect(!Posting.isBalanced([]))
        #expect(
            !Posting.isBalanced([
                JournalEntry(account: .storeRevenue, amount: money(5)),
                JournalEntry(account: .buyer(buyer), amount: money(-5, "USD")),
            ])
        )
        #expect(
            !Posting.isBalanced([
                JournalEntry(account: .storeRevenue, amount: money(.max)),
                JournalEntry(account: .refunds, amount: money(.max)),
                JournalEntry(account: .buyer(buyer), amount: money(2)),
            ])
        )
        #expect(!Posting.isBalanced([JournalEntry(account: .refunds, amount: money(0))]))
    }

    @Test func accountNamesAreReadBack() {
        for account: LedgerAccount in [
            .buyer(buyer), .storeRevenue, .taxPayable, .refunds, .processorClearing,
            .chargebacks, .processorPayments, .processorBalance, .processorFees, .bank,
            .processorOther,
        ] {
            #expect(LedgerAccount(name: account.name) == account)
        }
        #expect(LedgerAccount(name: "petty_cash") == nil)
    }
}
