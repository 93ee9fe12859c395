import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Opens the store's page on which the account redeems offer codes (spec rule 111).
    ///
    /// The program opens it: ``StoreConfiguration/codeRedemptionSheet``. Without one this method only logs
    /// a warning. What a code gives reaches the observers like any other purchase (spec rule 112).
    public func presentCodeRedemptionSheet() {
        guard let transport else { return }
        guard let sheet = transport.configuration.codeRedemptionSheet else {
            logger.warning("Offer codes cannot be redeemed: there is no codeRedemptionSheet")
            return
        }
        Task {
            do {
                sheet.open(try await codeRedemptionPage(by: sheet, transport))
            } catch {
                logger.warning("The page for offer codes cannot be opened: \(error)")
            }
        }
    }

    /// Leaves the family of the account.
    ///
    /// What others have shared is taken away: observers are told by
    /// ``SKPaymentTransactionObserver/paymentQueue(_:didRevokeEntitlementsForProductIdentifiers:)``. An
    /// account without a family has left already. An organizer cannot leave.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public func leaveFamily() async throws {
        guard let transport else { throw SKError.notConfigured }
        do {
            let _: FamilyResponse = try await transport.send(
                .post(transport.configuration.addresses.payments + Routes.familyLeave)
            )
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }

    /// Requests the address of the page, which signs the account in.
    private func codeRedemptionPage(
        by sheet: CodeRedemptionSheet,
        _ transport: StoreTransport
    ) async throws -> URL {
        let request = RedemptionTicketRequest(
            storefront: EventTypes.Storefront(
                unchecked: storefront?.countryCode ?? transport.configuration.storefront
            ),
            paymentMethod: PaymentMethod(rawValue: try await sheet.paymentMethod())
        )
        let payments = transport.configuration.addresses.payments
        let ticket: RedemptionTicketResponse = try await transport.send(
            .post(payments + Routes.redemptionTickets, request)
        )
        guard let page = URL(string: payments + ticket.path) else { throw SKError(.unknown) }
        return page
    }

    /// Processes the stream's event about the account.
    func receive(account data: [UInt8]) {
        guard let change = try? EventCoding.decode(QueueAccountChanged.self, from: data) else {
            // A newer store may send account data that only a newer client can read.
            logger.warning("The store says something of the account that cannot be read")
            return
        }
        take { $0.take(change.account) }
    }

    /// Requests the account's state from the store.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    func refreshAccount() async throws {
        guard let transport else { throw SKError.notConfigured }
        do {
            let response: AccountResponse = try await transport.send(
                .get(transport.configuration.addresses.payments + Routes.account)
            )
            take { $0.take(response.account) }
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }

    /// The storefront to buy in: the store's value, or else the program's.
    func storefrontCode(_ transport: StoreTransport) -> String {
        state.withLock { $0.account.storefront?.rawValue } ?? transport.configuration.storefront
    }

    /// Asks the delegate whether a payment continues in the storefront that the account has moved
    /// to (spec rule 9).
    func shouldContinue(
        _ transaction: SKPaymentTransaction,
        in storefront: EventTypes.Storefront
    ) async -> Bool {
        take { $0.take(storefront: storefront) }
        return await withCheckedContinuation { continuation in
            callbacks.async {
                let storefront = SKStorefront(storefront)
                continuation.resume(
                    returning: self.delegate?
                        .paymentQueue(self, shouldContinue: transaction, in: storefront) ?? true
                )
            }
        }
    }

    private func take(_ body: (inout AccountState) -> AccountState.News) {
        let news = state.withLock { state in
            let news = body(&state.account)
            if news.hasNewStorefront {
                tell(state.observers) { $0.paymentQueueDidChangeStorefront(self) }
            }
            return news
        }
        for intent in news.intents { Task { await self.offer(intent) } }
    }

    /// Asks the observers whether to add a purchase that was begun outside the app.
    private func offer(_ intent: PurchaseIntent) async {
        let product: SKProduct
        do {
            let response = try await products(for: [intent.productID.rawValue])
            guard let found = response.products.first else { return }
            product = found
        } catch {
            logger.warning(
                "A purchase begun outside the app is offered at the next launch",
                metadata: ["product.id": "\(intent.productID)", "error": "\(error)"]
            )
            return
        }
        let payment = SKPayment(
            product: product,
            fields: .init(
                productIdentifier: product.productIdentifier,
                quantity: intent.quantity,
                purchaseIntentID: intent.id.rawValue
            )
        )
        callbacks.async {
            let isWanted = self.transactionObservers.contains {
                $0.paymentQueue(self, shouldAddStorePayment: payment, for: product)
            }
            if isWanted { self.add(payment) }
        }
    }
}

extension SKStorefront {
    /// The account's current storefront according to the store (spec rule 6).
    ///
    /// If the store cannot be reached, it is the last known storefront or the program's own.
    public static var current: SKStorefront? {
        get async {
            let queue = SKPaymentQueue.default()
            // A known storefront is better than none.
            try? await queue.refreshAccount()
            return queue.storefront
        }
    }
}
