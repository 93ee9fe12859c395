import Foundation
import Testing

@testable import EventTypes

/// Members that stand outside of their struct, and the structs that are small because of them.
@Suite struct BoxedTests {
    private struct Parcel: Codable, Hashable {
        var name: String
        @Boxed var note: String? = nil
    }

    private static let time = StoreTime(millisecondsSinceEpoch: 1_790_000_000_123)

    private func subscription() -> Subscription {
        let price = Money(minorUnits: 999, currency: Currency(unchecked: "USD"))
        var subscription = Subscription(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.shop"),
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: 1),
                reason: .purchase,
                product: SubscriptionProduct(
                    id: ProductID(unchecked: "club.monthly"),
                    terms: SubscriptionTerms(
                        groupID: SubscriptionGroupID(unchecked: "club"),
                        level: 1,
                        period: SubscriptionPeriod(1, .month)
                    ),
                    price: price
                ),
                price: price,
                anchor: Self.time,
                number: 1,
                start: Self.time,
                end: Self.time.advanced(by: .seconds(60))
            )
        )
        subscription.earlierPeriod = subscription.period
        return subscription
    }

    private func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// A new member belongs into a box if most values lack it and it is large.
    @Test func whatIsCopiedOftenIsSmall() {
        #expect(MemoryLayout<Subscription>.size <= 640)
        #expect(MemoryLayout<PaidPeriod>.size <= 304)
        #expect(MemoryLayout<Transaction>.size <= 368)
        #expect(MemoryLayout<TransactionPeriod>.size <= 216)
        #expect(MemoryLayout<Boxed<PaidPeriod>>.size == MemoryLayout<Int>.size)
    }

    @Test func aCopyThatIsChangedLeavesTheFirstAsItIs() {
        let first = Parcel(name: "a", note: "fragile")
        var copy = first
        #expect(copy == first)
        copy.note?.append("!")
        #expect(first.note == "fragile")
        #expect(copy.note == "fragile!")
        copy.note = nil
        #expect(first.note == "fragile")
        #expect(copy.note == nil)
    }

    @Test func aChangedCopyOfASubscriptionLeavesTheFirst() {
        let first = subscription()
        var copy = first
        copy.earlierPeriod?.number = 7
        copy.earlierPeriod?.offer = PeriodOffer(
            type: .introductory,
            mode: .freeTrial,
            period: SubscriptionPeriod(1, .week),
            price: .zero(first.product.price.currency)
        )
        copy.pendingProduct = first.product
        #expect(first.earlierPeriod == first.period)
        #expect(first.pendingProduct == nil)
        #expect(copy.earlierPeriod?.number == 7)
        #expect(copy.earlierPeriod?.offer?.mode == .freeTrial)
        #expect(copy.period == first.period)
        #expect(copy != first)
    }

    @Test func equalValuesInTwoBoxesAreEqual() {
        let first = Parcel(name: "a", note: "fragile")
        let second = Parcel(name: "a", note: "fragile")
        #expect(first == second)
        #expect(Set([first, second]).count == 1)
        #expect(first != Parcel(name: "a"))
        #expect(first != Parcel(name: "a", note: "heavy"))
        #expect(Parcel(name: "a") == Parcel(name: "a"))
    }

    @Test func aMemberWithoutAValueIsLeftOut() throws {
        #expect(try encoded(Parcel(name: "a")) == #"{"name":"a"}"#)
        #expect(try encoded(Parcel(name: "a", note: "b")) == #"{"name":"a","note":"b"}"#)
        #expect(try decoded(Parcel.self, #"{"name":"a"}"#) == Parcel(name: "a"))
        #expect(try decoded(Parcel.self, #"{"name":"a","note":null}"#) == Parcel(name: "a"))
        let whole = try decoded(Parcel.self, #"{"name":"a","note":"b"}"#)
        #expect(whole == Parcel(name: "a", note: "b"))
        #expect(throws: DecodingError.self) {
            try decoded(Parcel.self, #"{"name":"a","note":3}"#)
        }
    }

    @Test func aBoxByItselfIsItsValueOrNull() throws {
        let boxes: [Boxed<Int>] = [Boxed(wrappedValue: 3), Boxed(wrappedValue: nil)]
        #expect(try encoded(boxes) == "[3,null]")
        #expect(try decoded([Boxed<Int>].self, "[3,null]") == boxes)
    }

    @Test func aBoxReadsAsItsValue() {
        #expect("\(Boxed(wrappedValue: 3))" == "Optional(3)")
        #expect("\(Boxed<Int>(wrappedValue: nil))" == "nil")
        let mirror = Mirror(reflecting: Boxed(wrappedValue: subscription().period))
        #expect(mirror.displayStyle == .optional)
        #expect(mirror.children.count == 1)
    }
}
