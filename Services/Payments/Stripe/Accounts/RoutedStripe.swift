import EventTypes
import Logging
import StoreAPI

/// Stripe, where the merchant may have several accounts.
///
/// A card exists at one account only. So every call goes to the account where its card was saved, and
/// that never changes. The account that the app has by then does not matter: an inquiry asks where the
/// charge was made, and a refund gives back what was taken there.
struct RoutedStripe: PaymentProcessor {
    let accounts: StripeAccounts
    /// Finds the accounts where cards were saved; cards without a row are absent.
    let homes: @Sendable ([PaymentMethod]) async throws -> [PaymentMethod: StripeAccountName]
    let logger: Logger
    let missing = MissingAccounts()

    var hasSavedMethods: Bool { true }

    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? {
        accounts.first.processor.lane(of: paymentMethod)
    }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool { false }

    func account(of app: BundleID) -> StripeAccountName { accounts.of(app).name }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        let routes = await routes(of: requests) { $0.paymentMethod }
        for request in routes.waiting {
            answer(request.attemptID, .throttled(retryAfter: routes.pause))
        }
        await withDiscardingTaskGroup { group in
            for share in routes.shares {
                group.addTask { await share.processor.charge(share.calls, answer: answer) }
            }
        }
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        let routes = await routes(of: inquiries) { $0.paymentMethod }
        for inquiry in routes.waiting { answer(inquiry.attemptID, .unavailable) }
        await withDiscardingTaskGroup { group in
            for share in routes.shares {
                group.addTask { await share.processor.inquire(share.calls, answer: answer) }
            }
        }
    }

    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        let routes = await routes(of: searches) { $0.paymentMethod }
        for search in routes.waiting { answer(search.attemptID, .unavailable) }
        await withDiscardingTaskGroup { group in
            for share in routes.shares {
                group.addTask { await share.processor.search(share.calls, answer: answer) }
            }
        }
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        let routes = await routes(of: inquiries) { $0.paymentMethod }
        for inquiry in routes.waiting { answer(inquiry.attemptID, .unavailable) }
        await withDiscardingTaskGroup { group in
            for share in routes.shares {
                group.addTask { await share.processor.cancel(share.calls, answer: answer) }
            }
        }
    }

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        let routes = await routes(of: calls) { $0.paymentMethod }
        for call in routes.waiting {
            answer(call.attemptID, .throttled(retryAfter: routes.pause))
        }
        await withDiscardingTaskGroup { group in
            for share in routes.shares {
                group.addTask { await share.processor.refund(share.calls, answer: answer) }
            }
        }
    }

    /// No account can take a refund back.
    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        await accounts.first.processor.reverse(calls, answer: answer)
    }
}

extension RoutedStripe {
    /// Whether a method without a row can only be of the first account.
    ///
    /// What is no card of Stripe's is of an attempt from the time of another processor, or of one that was
    /// rebuilt from the log. No account charges anything for it.
    private func isOfFirst(_ card: PaymentMethod) -> Bool {
        accounts.others.isEmpty || lane(of: card) == nil
    }

    /// The calls of one account.
    private struct Share<Call: Sendable>: Sendable {
        let processor: StripeProcessor
        let calls: [Call]
    }

    /// The accounts of calls.
    private struct Routes<Call: Sendable>: Sendable {
        var shares: [Share<Call>] = []
        /// The calls that nobody can make now, and how long they wait.
        var waiting: [Call] = []
        var pause = StripeProcessor.mistakePause
    }

    /// Finds the account of each call.
    ///
    /// A card is called for at no account if the settings do not name its own, or if its row was lost and
    /// there are several.
    private func routes<Call: Sendable>(
        of calls: [Call],
        by method: (Call) -> PaymentMethod
    ) async -> Routes<Call> {
        var routes = Routes<Call>()
        let homes: [PaymentMethod: StripeAccountName]
        do {
            homes = try await self.homes(Array(Set(calls.map(method))))
        } catch {
            logger.warning(
                "Payment methods cannot be read; nothing was asked of Stripe",
                metadata: ["error": "\(error)"]
            )
            routes.waiting = calls
            routes.pause = StripeProcessor.pause
            return routes
        }
        var shares: [StripeAccountName: [Call]] = [:]
        for call in calls {
            let card = method(call)
            let home = homes[card] ?? (isOfFirst(card) ? accounts.first.name : nil)
            if let home, accounts.named(home) != nil {
                shares[home, default: []].append(call)
            } else {
                routes.waiting.append(call)
                if let home { missing.note(home) }
            }
        }
        routes.shares = accounts.all.compactMap { account in
            shares[account.name].map { Share(processor: account.processor, calls: $0) }
        }
        if !routes.waiting.isEmpty {
            logger.error(
                """
                No setting names the account at Stripe of these attempts' cards, or the cards are not in \
                the table of saved ones; the attempts wait
                """,
                metadata: ["attempts": "\(routes.waiting.count)"]
            )
        }
        return routes
    }
}
