import EventTypes
import Foundation
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// The length of the first pause: as after this number of failures.
    ///
    /// Most charges have ended by then, so the store is not asked about them.
    private static let firstPause = 3

    /// Asks the store for the pages on which the buyer has to confirm payments, as with 3-D Secure.
    ///
    /// It asks about each payment that is being charged, for as long as it is. So a program that was
    /// killed opens the page again at its next launch. Without
    /// ``StoreConfiguration/buyerActionPage`` nothing is asked.
    func askForBuyerActions() {
        guard let transport, let open = transport.configuration.buyerActionPage else { return }
        let new = state.withLock { state in
            let new = state.pending.purchasing.subtracting(state.buyerActionsAsked)
            state.buyerActionsAsked.formUnion(new)
            return new
        }
        for id in new { Task { await self.followBuyerAction(of: id, transport, open) } }
    }

    private func followBuyerAction(
        of id: TransactionID,
        _ transport: StoreTransport,
        _ open: @Sendable (URL) async -> Void
    ) async {
        defer { state.withLock { _ = $0.buyerActionsAsked.remove(id) } }
        var opened: URL?
        var pauses = Self.firstPause
        while true {
            // It throws only in a task that is cancelled.
            do { try await transport.pause(afterFailures: pauses) } catch { return }
            guard state.withLock({ $0.pending.purchasing.contains(id) }) else { return }
            pauses += 1
            guard let page = await buyerActionPage(of: id, transport), page != opened else {
                continue
            }
            opened = page
            await open(page)
            // The next question also has the store look at what the buyer did.
            pauses = 1
        }
    }

    /// The address of the page for a payment; `nil` if nobody has to act now, or nobody knows.
    private func buyerActionPage(of id: TransactionID, _ transport: StoreTransport) async -> URL? {
        let payments = transport.configuration.addresses.payments
        do {
            let action: BuyerActionResponse = try await transport.send(
                .get(payments + Routes.action(of: id))
            )
            return URL(string: action.url.hasPrefix("/") ? payments + action.url : action.url)
        } catch {
            // It is asked for again.
            return nil
        }
    }
}

extension PendingTransactions {
    /// The payments that the store has accepted and is charging.
    var purchasing: Set<TransactionID> {
        Set(known.filter { $0.value.fields.state == .purchasing }.keys)
    }
}
