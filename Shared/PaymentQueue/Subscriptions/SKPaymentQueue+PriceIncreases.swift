import Dispatch
import EventTypes
import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Shows the price consent sheet if the price of a subscription was raised and the subscriber
    /// has not answered.
    ///
    /// Otherwise it does nothing (spec rules 106 and 107). A subscriber who agrees pays the new price
    /// from the next renewal on. Without consent the subscription ends with its period (spec rule
    /// 108).
    ///
    /// The program provides the sheet: ``StoreConfiguration/priceConsentSheet``.
    public func showPriceConsentIfNeeded() {
        guard let transport else { return }
        guard let sheet = transport.configuration.priceConsentSheet else {
            if state.withLock({ !$0.prices.pending.isEmpty }) {
                logger.warning(
                    "A price increase waits for consent, and there is no priceConsentSheet"
                )
            }
            return
        }
        Task {
            // A question may have been answered on another device, or taken back by the merchant.
            await self.refreshPrices(transport)
            for question in self.state.withLock({ $0.prices.show() }) {
                let price = question.increase.price
                let increase = SKPriceIncrease(
                    productIdentifier: question.increase.productID.rawValue,
                    price: price.decimal,
                    currencyCode: price.currency.rawValue
                )
                if let isAgreed = await sheet(increase) {
                    await self.answer(question, isAgreed: isAgreed, transport)
                }
                self.state.withLock { $0.prices.close(question) }
            }
        }
    }

    /// Applies what the store says of subscriptions, and asks the delegate about new questions.
    func takePrices(of subscriptions: [Subscription]) {
        guard state.withLock({ $0.prices.take(subscriptions) }) else { return }
        callbacks.async {
            guard self.delegate?.paymentQueueShouldShowPriceConsent(self) ?? true else { return }
            self.showPriceConsentIfNeeded()
        }
    }

    /// Asks the store, until it answers, which price increases wait for the subscriber.
    ///
    /// It asks when the stream has connected, which says nothing of earlier changes. A program that
    /// cannot show an increase does not ask.
    func lookForPriceIncreases() {
        guard let transport, transport.configuration.priceConsentSheet != nil else { return }
        state.withLock { state in
            guard state.session != nil else { return }
            state.priceSearch?.cancel()
            state.priceSearch = Task {
                do {
                    let answer = try await transport.sendUntilAnswered(
                        Self.subscriptions(transport),
                        as: SubscriptionsResponse.self
                    )
                    self.takePrices(of: answer.subscriptions)
                } catch {
                    self.logger.debug(
                        "Price increases are noticed at the next launch",
                        metadata: ["error": "\(error)"]
                    )
                }
            }
        }
    }

    /// Asks the store once for the price increases, before they are shown.
    private func refreshPrices(_ transport: StoreTransport) async {
        do {
            let answer = try await transport.send(
                Self.subscriptions(transport),
                as: SubscriptionsResponse.self
            )
            state.withLock { _ = $0.prices.take(answer.subscriptions) }
        } catch {
            logger.warning(
                "The store does not say which price increases wait; those that are known are shown",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private static func subscriptions(_ transport: StoreTransport) -> StoreTransport.Question {
        .get(transport.configuration.addresses.payments + Routes.subscriptions)
    }

    private func answer(
        _ question: PriceQuestions.Question,
        isAgreed: Bool,
        _ transport: StoreTransport
    ) async {
        let address = transport.configuration.addresses.payments
        // With its id, the answer never counts for a later increase.
        let request = PriceIncreaseDecisionRequest(
            decision: isAgreed ? .agree : .decline,
            increaseID: question.increase.id
        )
        do {
            let answer = try await transport.sendUntilAnswered(
                .put(address + Routes.priceIncrease(question.subscriptionID), request),
                as: SubscriptionResponse.self
            )
            noteChange(of: answer.subscription)
        } catch {
            logger.warning(
                "The decision on a price increase does not count; the store asks again if it waits",
                metadata: [
                    "subscription.id": "\(question.subscriptionID)", "error": "\(error)",
                ]
            )
        }
    }
}
