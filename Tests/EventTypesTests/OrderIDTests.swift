import EventTypes
import Testing

@Suite struct OrderIDTests {
    @Test(arguments: [1, 31, 32, 1_000_001, 1_000_002, 34_359_738_368, 999_999_999_999_999_999])
    func anOrderLeadsBackToItsTransaction(_ number: Int64) throws {
        let order = OrderID(TransactionID(number: number))
        #expect(order.transactionID.number == number)
        let read = try #require(OrderID(rawValue: order.rawValue))
        #expect(read == order)
        #expect(order.rawValue.first == "W" && order.rawValue.utf8.count >= 9)
    }

    @Test func anOrderIsTheSameForEver() {
        // Invoices with it are out.
        #expect(OrderID(TransactionID(number: 1_000_001)).rawValue == "W000YGJ15")
    }

    @Test func aDigitThatWasMisreadOrSwappedFindsNothing() {
        let order = Array(OrderID(TransactionID(number: 1_234_567_890)).rawValue)
        for index in 1..<order.count {
            for digit in "0123456789ABCDEFGHJKMNPQRSTVWXY" where digit != order[index] {
                var wrong = order
                wrong[index] = digit
                #expect(OrderID(rawValue: String(wrong)) == nil, "\(String(wrong))")
            }
            guard index + 2 < order.count, order[index] != order[index + 1] else { continue }
            var swapped = order
            swapped.swapAt(index, index + 1)
            #expect(OrderID(rawValue: String(swapped)) == nil, "\(String(swapped))")
        }
    }

    @Test(
        arguments: [
            "", "W", "w000ygj15", "X000YGJ15", "W000YGJI5", "W0000YGJ19", "W000YGJ15 ",
            "WZZZZZZZZZZZZZZ", "W00000000",
        ]
    )
    func whatIsNoOrderIsRefused(_ text: String) {
        #expect(OrderID(rawValue: text) == nil)
    }
}
