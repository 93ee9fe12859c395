import EventTypes
import Foundation
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// The length of the first pause before a question about what is owed: as after this number of
    /// failures.
    ///
    /// Most charges have ended by then, so the store is not asked about them.
    private static let firstPause = 3

    /// Asks the store for the pages on which the buyer has to confirm payments, as with 3-D Secure.
    ///
    /// It asks about each payment of which the queue says that it awaits its buyer, for as long as it
    /// does. So a program that was killed opens the page again at its next launch. Without
    /// ``StoreConfiguration/buyerActionPage`` nothing is asked.
    func askForBuyerActions() {
        guard transport?.configuration.buyerActionPage != nil else { return }
        let new = state.withLock { $0.pending.awaitingBuyer.subtracting($0.buyerActions.ids) }
        for id in new { askForBuyerAction(of: id) }
    }

    /// Asks the store for the page of a payment from the beginning, so that it is opened once more.
    ///
    /// Nothing happens while the page is open, or if the payment does not await its buyer.
    func askAgainForBuyerAction(of id: TransactionID) {
        guard state.withLock({ $0.pending.awaitingBuyer.contains(id) }) else { return }
        askForBuyerAction(of: id)
    }

    private func askForBuyerAction(of id: TransactionID) {
        follow(at: Routes.action(of: id), of: id, firstPause: 0) { [self] _ in
            state.withLock { $0.pending.awaitingBuyer.contains(id) }
        }
    }

    /// Asks the store for the page on which the subscriber has to confirm a charge for what is owed.
    ///
    /// It asks for as long as the charge is under way. Such a transaction is in no queue before it is
    /// paid, so it is found by its subscription. A subscriber who has left the page and asks again gets
    /// it again.
    func askForBuyerAction(ofSubscription id: TransactionID) {
        follow(at: Routes.action(ofSubscription: id), of: id, firstPause: Self.firstPause) {
            [self] transport in await isCharging(id, transport)
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

    /// Opens each page of a charge in a new round, unless the one before has not closed its page yet.
    ///
    /// - Parameters:
    ///   - path: The path at which the store tells the page.
    ///   - id: The transaction or the subscription.
    ///   - firstPause: The length of the first pause; 0 asks at once.
    ///   - isOpen: Says whether the charge is still under way.
    private func follow(
        at path: String,
        of id: TransactionID,
        firstPause: Int,
        while isOpen: @escaping @Sendable (StoreTransport) async -> Bool
    ) {
        guard let transport, let open = transport.configuration.buyerActionPage,
            let round = state.withLock({ $0.buyerActions.begin(id) })
        else { return }
        Task {
            await self.openPages(at: path, of: id, round, firstPause, transport, open, isOpen)
            self.state.withLock { $0.buyerActions.end(round, of: id) }
            // The queue may have said meanwhile that the buyer is awaited again.
            self.askForBuyerActions()
        }
    }

    /// Opens each page of a charge, until the charge is decided or another round has begun.
    private func openPages(
        at path: String,
        of id: TransactionID,
        _ round: Int,
        _ firstPause: Int,
        _ transport: StoreTransport,
        _ open: @Sendable (URL) async -> Void,
        _ isOpen: @Sendable (StoreTransport) async -> Bool
    ) async {
        var opened: URL?
        var pauses = firstPause
        while true {
            // It throws only in a task that is cancelled.
            do {
                if pauses > 0 { try await transport.pause(afterFailures: pauses) }
            } catch {
                return
            }
            guard state.withLock({ $0.buyerActions.isCurrent(round, of: id) }),
                await isOpen(transport)
            else { return }
            pauses += 1
            guard let page = await buyerActionPage(at: path, transport), page != opened else {
                continue
            }
            guard state.withLock({ $0.buyerActions.openPage(round, of: id) }) else { return }
            opened = page
            await open(page)
            state.withLock { $0.buyerActions.closePage(round, of: id) }
            // The next question also has the store look at what the buyer did.
            pauses = 1
        }
    }

    /// Asks the store for the page for a charge.
    ///
    /// - Returns: The page; `nil` if nobody has to act now, or if nobody knows. Then it is asked for again.
    private func buyerActionPage(at path: String, _ transport: StoreTransport) async -> URL? {
        let payments = transport.configuration.addresses.payments
        do {
            let action: BuyerActionResponse = try await transport.send(
                .get(payments + path)
            )
            let address = action.url.hasPrefix("/") ? payments + action.url : action.url
            return URL(string: address)
        } catch {
            return nil
        }
    }
}

extension SKPaymentTransaction {
    /// Opens the page on which the buyer confirms the payment once more, after they have left it.
    ///
    /// The queue opens each page once by itself. Offer this to the buyer while the transaction
    /// ``awaitsBuyer``. Nothing happens otherwise, or while the page is open.
    public func openBuyerActionPage() {
        if let number { queue.askAgainForBuyerAction(of: number) }
    }
}

extension PendingTransactions {
    /// The payments whose buyers have to confirm them.
    var awaitingBuyer: Set<TransactionID> {
        Set(known.filter { $0.value.fields.awaitsBuyer }.keys)
    }
}
