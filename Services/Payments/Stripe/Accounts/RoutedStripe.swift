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
    let homes: @Sendable ([PaymentMethod]) async throws -> [PaymentMethod: ProcessorAccountName]
    /// Finds the buyers to whom cards belong at all accounts; cards without a row are absent.
    let buyers: @Sendable ([PaymentMethod]) async throws -> [PaymentMethod: BuyerAccounts]
    let logger: Logger
    let missing = MissingAccounts()
    let strays = StrayCharges()

    var hasSavedMethods: Bool { true }

    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? {
        accounts.first.processor.lane(of: paymentMethod)
    }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool { false }

    func account(of app: BundleID) -> ProcessorAccountName { accounts.of(app).name }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        await route(
            requests,
            by: { $0.paymentMethod },
            orWait: { answer($0.attemptID, .throttled(retryAfter: $1)) },
            to: { await $0.charge($1, answer: answer) }
        )
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        await route(
            inquiries,
            by: { $0.paymentMethod },
            orWait: { inquiry, _ in answer(inquiry.attemptID, .unavailable) },
            to: { await $0.inquire($1, answer: answer) }
        )
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        await route(
            inquiries,
            by: { $0.paymentMethod },
            orWait: { inquiry, _ in answer(inquiry.attemptID, .unavailable) },
            to: { await $0.cancel($1, answer: answer) }
        )
    }

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        await route(
            calls,
            by: { $0.paymentMethod },
            orWait: { answer($0.attemptID, .throttled(retryAfter: $1)) },
            to: { await $0.refund($1, answer: answer) }
        )
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

    /// Makes each call at the account of its card, at all accounts at the same time.
    ///
    /// - Parameters:
    ///   - calls: The calls.
    ///   - method: The payment method of a call.
    ///   - wait: Answers a call that cannot be made now, and says how long it waits.
    ///   - account: Makes calls at one account.
    func route<Call: Sendable>(
        _ calls: [Call],
        by method: (Call) -> PaymentMethod,
        orWait wait: (Call, Duration) -> Void,
        to account: @escaping @Sendable (StripeProcessor, [Call]) async -> Void
    ) async {
        let routes = await routes(of: calls, by: method)
        for call in routes.waiting { wait(call, routes.pause) }
        await withDiscardingTaskGroup { group in
            for share in routes.shares {
                group.addTask { await account(share.processor, share.calls) }
            }
        }
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
        let homes: [PaymentMethod: ProcessorAccountName]
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
        var shares: [ProcessorAccountName: [Call]] = [:]
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
