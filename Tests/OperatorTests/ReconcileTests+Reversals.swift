import EventTypes
import StoreAPI
import Testing

@testable import Operator
@testable import OperatorCore

extension ReconcileTests {
    @Test func whatARefundMadeVoidStaysSoWhenItIsReversed() {
        func reversed(_ books: inout TransactionBooks) {
            books.queued?.deliveries[0].state = "void"
            books.queued?.credits += [
                .init(unit: "coins", kind: "revoke", amount: -100),
                .init(unit: "coins", kind: "grant", amount: 100),
            ]
            for target: DeliveryTargetName in ["2:refund:1", "2:refund:1:reversed"] {
                books.queued?.deliveries.append(
                    .init(target: target, kind: "webhook", state: "delivered")
                )
            }
        }
        #expect(Self.kinds(reversed) == [])
        #expect(
            Self.kinds {
                reversed(&$0); $0.queued?.deliveries[3].state = "pending"
            } == [.undelivered]
        )
        #expect(
            Self.kinds {
                reversed(&$0); $0.queued?.isEntitled = false
            } == [.notEntitled]
        )
        #expect(
            Self.kinds {
                reversed(&$0); $0.queued?.credits.removeLast()
            } == [.notCredited]
        )
    }
}
