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
        for id in new {
            Task {
                await self.followBuyerAction(at: Routes.action(of: id), of: id, transport, open) {
                    self.state.withLock { $0.pending.purchasing.contains(id) }
                }
            }
        }
    }

    /// Asks the store for the page on which the subscriber has to confirm a charge for what is owed.
    ///
    /// It asks for as long as the charge is under way. Such a transaction is in no queue before it is
    /// paid, so it is found by its subscription.
    func askForBuyerAction(ofSubscription id: TransactionID) {
        guard let transport, let open = transport.configuration.buyerActionPage,
            state.withLock({ $0.buyerActionsAsked.insert(id).inserted })
        else { return }
        let path = Routes.action(ofSubscription: id)
        Task {
            await self.followBuyerAction(at: path, of: id, transport, open) {
                await self.isCharging(id, transport)
            }
        }
    }

    /// Whether a subscription is being charged; also if nobody knows.
    private func isCharging(_ id: TransactionID, _ transport: StoreTransport) async -> Bool {
        let address = transport.configuration.addresses.payments
        let question = StoreTransport.Question.get(address + Routes.subscription(id))
        do {
            let answer = try await transport.send(question, as: SubscriptionResponse.self)
            return answer.subscription.charge != nil
        } catch StoreFailure.refused(_) {
            // The app may have changed its account.
            return false
        } catch {
            return true
        }
    }

    /// Opens each page of a charge.
    ///
    /// - Parameters:
    ///   - path: The path at which the store tells the page.
    ///   - id: The transaction or the subscription.
    ///   - transport: The connection to the store.
    ///   - open: Opens a page.
    ///   - isOpen: Says whether the charge is still under way.
    private func followBuyerAction(
        at path: String,
        of id: TransactionID,
        _ transport: StoreTransport,
        _ open: @Sendable (URL) async -> Void,
        while isOpen: @Sendable () async -> Bool
    ) async {
        defer { state.withLock { _ = $0.buyerActionsAsked.remove(id) } }
        var opened: URL?
        var pauses = Self.firstPause
        while true {
            // It throws only in a task that is cancelled.
            do { try await transport.pause(afterFailures: pauses) } catch { return }
            guard await isOpen() else { return }
            pauses += 1
            guard let page = await buyerActionPage(at: path, transport), page != opened else {
                continue
            }
            opened = page
            await open(page)
            // The next question also has the store look at what the buyer did.
            pauses = 1
        }
    }

    /// The address of the page for a charge; `nil` if nobody has to act now, or nobody knows.
    private func buyerActionPage(at path: String, _ transport: StoreTransport) async -> URL? {
        let payments = transport.configuration.addresses.payments
        do {
            let action: BuyerActionResponse = try await transport.send(
                .get(payments + path)
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
