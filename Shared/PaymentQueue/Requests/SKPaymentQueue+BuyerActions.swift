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
        guard transport?.configuration.buyerActionPage != nil else { return }
        let new = state.withLock { $0.pending.purchasing.subtracting($0.buyerActions.ids) }
        for id in new { askForBuyerAction(of: id, firstPause: Self.firstPause) }
    }

    /// Asks the store for the page of a payment from the beginning, so that it is opened once more.
    ///
    /// Nothing happens while the page is open, or once the payment is decided.
    func askAgainForBuyerAction(of id: TransactionID) {
        guard state.withLock({ $0.pending.purchasing.contains(id) }) else { return }
        askForBuyerAction(of: id, firstPause: 0)
    }

    /// Whether the store has said last that the buyer of a payment has to act.
    func isBuyerAwaited(of id: TransactionID) -> Bool {
        state.withLock {
            $0.pending.purchasing.contains(id) && $0.buyerActions.isBuyerAwaited(id)
        }
    }

    private func askForBuyerAction(of id: TransactionID, firstPause: Int) {
        follow(at: Routes.action(of: id), of: id, firstPause: firstPause) { [self] _ in
            state.withLock { $0.pending.purchasing.contains(id) }
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
    ///   - firstPause: The length of the first pause.
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
            do { try await transport.pause(afterFailures: pauses) } catch { return }
            guard state.withLock({ $0.buyerActions.isCurrent(round, of: id) }),
                await isOpen(transport)
            else { return }
            pauses += 1
            let answer = await buyerActionPage(at: path, transport)
            if let isAwaited = answer.isBuyerAwaited {
                state.withLock { $0.buyerActions.note(isBuyerAwaited: isAwaited, round, of: id) }
            }
            guard case .page(let page) = answer, page != opened else { continue }
            guard state.withLock({ $0.buyerActions.openPage(round, of: id) }) else { return }
            opened = page
            await open(page)
            state.withLock { $0.buyerActions.closePage(round, of: id) }
            // The next question also has the store look at what the buyer did.
            pauses = 1
        }
    }

    /// The page for a charge, as far as the store tells.
    private enum BuyerActionPage {
        case page(URL)
        /// Nobody has to act now.
        case none
        case unknown

        /// Whether the buyer has to act; `nil` if nobody knows.
        var isBuyerAwaited: Bool? {
            switch self {
            case .page: true
            case .none: false
            case .unknown: nil
            }
        }
    }

    /// Asks the store for the page for a charge.
    private func buyerActionPage(
        at path: String,
        _ transport: StoreTransport
    ) async -> BuyerActionPage {
        let payments = transport.configuration.addresses.payments
        do {
            let action: BuyerActionResponse = try await transport.send(
                .get(payments + path)
            )
            let address = action.url.hasPrefix("/") ? payments + action.url : action.url
            guard let page = URL(string: address) else { return .unknown }
            return .page(page)
        } catch StoreFailure.refused(_) {
            return .none
        } catch {
            // It is asked for again.
            return .unknown
        }
    }
}

extension SKPaymentTransaction {
    /// Whether the buyer has to confirm the payment on a page of their bank, as the store has said last.
    ///
    /// The transaction is `purchasing` all the while. Without ``StoreConfiguration/buyerActionPage`` the
    /// store is not asked, and this is `false`.
    public var awaitsBuyer: Bool { number.map { queue.isBuyerAwaited(of: $0) } ?? false }

    /// Opens the page on which the buyer confirms the payment once more, after they have left it.
    ///
    /// The queue opens each page once by itself. Offer this to the buyer while the transaction
    /// ``awaitsBuyer``. Nothing happens if nobody has to confirm it, or while the page is open.
    public func openBuyerActionPage() {
        if let number { queue.askAgainForBuyerAction(of: number) }
    }
}

extension PendingTransactions {
    /// The payments that the store has accepted and is charging.
    var purchasing: Set<TransactionID> {
        Set(known.filter { $0.value.fields.state == .purchasing }.keys)
    }
}
