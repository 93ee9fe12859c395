import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Shows the price consent sheet if the price of a subscription was raised and the subscriber has
    /// not answered; otherwise it does nothing (spec rules 106 and 107).
    ///
    /// The sheet is the program's: ``StoreConfiguration/priceConsentSheet``.
    public func showPriceConsentIfNeeded() {
        guard let transport, state.withLock({ !$0.account.pendingConsents.isEmpty }) else { return }
        guard let sheet = transport.configuration.priceConsentSheet else {
            logger.warning("A price increase waits for consent, and there is no priceConsentSheet")
            return
        }
        let pending = state.withLock { $0.account.show() }
        Task {
            for consent in pending {
                let increase = SKPriceIncrease(
                    productIdentifier: consent.productID.rawValue,
                    price: consent.price.decimal,
                    currencyCode: consent.price.currency.rawValue
                )
                guard let agrees = await sheet(increase) else {
                    self.state.withLock { $0.account.unshow(consent.id) }
                    continue
                }
                await self.answer(consent.id, with: agrees ? .agree : .decline, transport)
            }
        }
    }

    /// Opens the page for offer codes that the program names (spec rule 111).
    ///
    /// The page is ``StoreConfiguration/codeRedemptionSheet``; without one this only logs a warning.
    /// The store itself redeems no codes yet. What the page's server buys for the account arrives at
    /// the observers like any purchase (spec rule 112).
    public func presentCodeRedemptionSheet() {
        guard let transport else { return }
        guard let (url, open) = transport.configuration.codeRedemptionSheet else {
            logger.warning("Offer codes cannot be redeemed: there is no codeRedemptionSheet")
            return
        }
        open(url)
    }

    /// Takes what the stream says of the account.
    func receive(account data: [UInt8]) {
        guard let change = try? EventCoding.decode(QueueAccountChanged.self, from: data) else {
            // What a newer store says of an account is for a newer client.
            logger.warning("The store says something of the account that cannot be read")
            return
        }
        take { $0.take(change.account) }
    }

    /// Asks the store what it knows of the account.
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

    /// The storefront to buy in: the store's word, or else the program's.
    func storefrontCode(_ transport: StoreTransport) -> String {
        state.withLock { $0.account.storefront?.rawValue } ?? transport.configuration.storefront
    }

    /// The account buys elsewhere than the payment says: asks the delegate whether it goes on there
    /// (spec rule 9).
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
        if news.hasNewPriceConsent {
            callbacks.async {
                guard self.delegate?.paymentQueueShouldShowPriceConsent(self) ?? true else {
                    return
                }
                self.showPriceConsentIfNeeded()
            }
        }
        for intent in news.intents { Task { await self.offer(intent) } }
    }

    /// Asks the observers whether a purchase that was begun outside the app is added now.
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

    private func answer(
        _ id: PriceConsentID,
        with decision: PriceConsentDecisionRequest.Decision,
        _ transport: StoreTransport
    ) async {
        do {
            let response: AccountResponse = try await transport.sendUntilAnswered(
                .post(
                    transport.configuration.addresses.payments + Routes.priceConsent(id),
                    PriceConsentDecisionRequest(decision: decision)
                )
            )
            take { $0.take(response.account) }
        } catch {
            state.withLock { $0.account.unshow(id) }
            logger.warning(
                "The word on a price increase did not reach the store; it will ask again",
                metadata: ["error": "\(error)"]
            )
        }
    }
}

extension SKStorefront {
    /// The account's storefront as the store says now (spec rule 6), or else what is known: the
    /// store's last word, or the program's own.
    public static var current: SKStorefront? {
        get async {
            let queue = SKPaymentQueue.default()
            // What is known already is better than nothing.
            try? await queue.refreshAccount()
            return queue.storefront
        }
    }
}
