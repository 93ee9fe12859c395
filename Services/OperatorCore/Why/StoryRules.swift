import EventTypes
import StoreAPI

/// Composes a story from the services' data.
///
/// Pure.
struct StoryRules {
    let payments: PaymentsChapter
    let receipts: ReceiptsChapter
    let fulfillment: FulfillmentChapter
    /// By consumer.
    let marks: [ServiceName: ConsumerMarks]
    let now: StoreTime
    let machineTime: MachineTime

    var story: Story {
        Story(
            transactionID: payments.id,
            orderID: payments.orderID,
            accountID: payments.accountID,
            bundleID: payments.bundleID,
            productID: payments.productID,
            quantity: payments.quantity,
            price: payments.price,
            storefront: payments.storefront,
            state: payments.state,
            failureReason: payments.failureReason,
            revokedAt: payments.revokedAt,
            postings: payments.postings.map { posting in
                Story.Posting(
                    kind: posting.kind,
                    time: posting.time,
                    entries: posting.entries.map { .init(account: $0.account, amount: $0.amount) }
                )
            },
            steps: steps,
            waitsFor: waitsFor,
            subscription: payments.subscription.map(SubscriptionWords.present),
            subscriptionID: payments.subscription?.id,
            refundRequest: payments.events.compactMap(\.request).last
        )
    }

    // MARK: - What happened

    private var steps: [Story.Step] {
        let all =
            [asked] + approvalSteps + refundRequestSteps + processorSteps + postingSteps
            + failedTrySteps
            + events(payments.events, of: .payments)
            + receiptSteps + events(receipts.events, of: .receipts)
            + deliverySteps + events(fulfillment.events, of: .fulfillment)
            + finishSteps + refundSteps + notificationSteps
        // Steps of the same millisecond stay in the order of cause and effect.
        return all.enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map { traced($0.element) }
    }

    /// A step with the trace of the event that reports it: the last of its service by then, or the
    /// first, which a state came before.
    private func traced(_ step: Story.Step) -> Story.Step {
        guard step.traceID == nil, step.kind != "event" else { return step }
        let events =
            switch step.service {
            case .service(.receipts): receipts.events
            case .service(.fulfillment): fulfillment.events
            case .service, .processor: payments.events
            }
        var step = step
        step.traceID = (events.last { $0.time <= step.time } ?? events.first)?.traceID
        return step
    }

    private var asked: Story.Step {
        let method = payments.attempts.first?.paymentMethod.rawValue
        let offers = SubscriptionWords.offerText(of: payments.period, from: payments.campaign)
        var text = "asked for \(payments.price)\(offers) (\(method ?? "no charge"))"
        if payments.reason == .familyShared { text = "a member of the family bought it and shares" }
        if let failed = payments.resumes { text += ", resuming the interrupted \(failed)" }
        return Story.Step(
            time: payments.requestedAt,
            service: .service(.payments),
            kind: "state",
            text: text
        )
    }

    private var processorSteps: [Story.Step] {
        payments.processor.map { entry in
            var text =
                switch entry.kind {
                case .charge: "charged \(entry.money)\(takeoverText)"
                case .refund: "refunded \(entry.money)"
                case .reversal: "got back \(entry.money) of a refund"
                }
            if let reason = entry.declineReason { text = "declined \(entry.money): \(reason)" }
            return Story.Step(time: entry.time, service: .processor, kind: "charge", text: text)
        }
    }

    private var failedTrySteps: [Story.Step] {
        payments.failedTries.map { failure in
            Story.Step(
                time: failure.time,
                service: .service(.payments),
                kind: "subscription",
                text: SubscriptionWords.text(of: failure)
            )
        }
    }

    private var postingSteps: [Story.Step] {
        payments.postings.map { posting in
            let entries = posting.entries.map { "\($0.account) \($0.amount)" }.joined(
                separator: ", "
            )
            return Story.Step(
                time: posting.time,
                service: .service(.payments),
                kind: "posting",
                text: "posted \(posting.kind): \(entries)"
            )
        }
    }

    private var receiptSteps: [Story.Step] {
        guard let receipt = receipts.receipt else { return [] }
        var text =
            "signed the receipt, revision \(receipt.revision), certificate chain \(receipt.chain)"
        if receipt.isRevoked { text += ", as revoked" }
        return [
            Story.Step(
                time: receipt.signedAt,
                service: .service(.receipts),
                kind: "receipt",
                text: text
            )
        ]
    }

    private var deliverySteps: [Story.Step] {
        let credits = fulfillment.credits.map { credit in
            Story.Step(
                time: credit.time,
                service: .service(.fulfillment),
                kind: "credit",
                text: credit.kind == "grant"
                    ? "credited \(credit.amount) \(credit.unit)"
                    : "took back \(-credit.amount) \(credit.unit)"
            )
        }
        let deliveries = fulfillment.deliveries.flatMap { delivery -> [Story.Step] in
            let kind = delivery.kind == "webhook" ? "webhook" : "delivery"
            let place = delivery.target.rawValue + (delivery.host.map { " to \($0)" } ?? "")
            var steps: [Story.Step] = []
            if let time = delivery.lastAttemptAt, delivery.kind == "webhook" {
                let answer = delivery.lastResult ?? "no answer yet"
                steps.append(
                    Story.Step(
                        time: storeTime(of: time),
                        service: .service(.fulfillment),
                        kind: kind,
                        text: "called \(place), try \(delivery.attempts): \(answer)",
                        isProblem: delivery.deliveredAt == nil && delivery.lastResult != nil
                    )
                )
            }
            if let time = delivery.deliveredAt {
                steps.append(
                    Story.Step(
                        time: time,
                        service: .service(.fulfillment),
                        kind: kind,
                        text: "delivered \(place)"
                    )
                )
            }
            return steps
        }
        return credits + deliveries
    }

    private var finishSteps: [Story.Step] {
        var steps: [Story.Step] = []
        if let time = fulfillment.finishedAt {
            let finishes: [ServiceName?] = [
                payments.finishedAt == nil ? nil : .payments,
                receipts.finishedAt == nil ? nil : .receipts,
            ]
            let known = finishes.compactMap { $0?.rawValue }.joined(separator: ", ")
            steps.append(
                Story.Step(
                    time: time,
                    service: .service(.fulfillment),
                    kind: "finish",
                    text: "the app finished it"
                        + (known.isEmpty ? "" : "; known to \(known)")
                )
            )
        }
        if let (id, time) = payments.resumedBy {
            steps.append(
                Story.Step(
                    time: time,
                    service: .service(.payments),
                    kind: "state",
                    text: "resumed as transaction \(id)"
                )
            )
        }
        return steps
    }

    private var notificationSteps: [Story.Step] {
        receipts.notifications.flatMap { notification in
            [
                Story.Step(
                    time: notification.signedAt,
                    service: .service(.receipts),
                    kind: "notification",
                    text: "notification \(notification.type), \(notification.state)",
                    isProblem: notification.state == "given_up"
                )
            ]
                + notification.attempts.enumerated().map { index, attempt in
                    Story.Step(
                        time: attempt.time,
                        service: .service(.receipts),
                        kind: "notification",
                        text: "notified the merchant's server, try \(index + 1): \(attempt.result)",
                        isProblem: attempt.result != "SUCCESS"
                    )
                }
        }
    }

    private func events(_ events: [StoryEvent], of service: ServiceName) -> [Story.Step] {
        events.map { event in
            let (done, open) = consumers(of: event)
            let words = SubscriptionWords(failures: payments.failedTries)
            var text = event.change.map(words.text) ?? waitText(of: event) ?? "event \(event.type)"
            if !event.isPublished { text += ", not published yet" }
            if !done.isEmpty, event.change == nil {
                text += ", done by \(done.map(\.rawValue).joined(separator: ", "))"
            }
            for name in open { text += ", " + stand(of: event, with: name) }
            return Story.Step(
                time: event.time,
                service: .service(service),
                kind: event.change == nil ? "event" : "subscription",
                text: text,
                traceID: event.traceID,
                isProblem: !open.isEmpty || !event.isPublished
            )
        }
    }

    /// The store's time when the machines' clock showed a time, if neither was set since.
    private func storeTime(of time: MachineTime) -> StoreTime {
        now.advanced(by: time.duration(since: machineTime))
    }

    // MARK: - What is left to do

    private var waitsFor: [String] {
        [paymentWait].compactMap(\.self) + eventWaits + blockers + deliveryWaits + notificationWaits
            + [finishWait].compactMap(\.self)
    }

    private var paymentWait: String? {
        let id = payments.id
        switch payments.state {
        case .deferred:
            return "Somebody has to approve it: counterfoil approve \(id), or decline \(id)."
        case .purchasing:
            guard let attempt = payments.attempts.first(where: { $0.step != "settled" }) else {
                return "payments has not decided: is it running? See 'counterfoil status'."
            }
            if let other = attempt.waitsFor {
                return "It waits for \(other), which buys the same: counterfoil why \(other)."
            }
            let next = attempt.dueAt.map(when) ?? "when it runs"
            return wait(for: attempt, next)
        default:
            return undoWait
        }
    }

    private func when(_ time: MachineTime) -> String {
        time > machineTime ? "in \(Age(of: machineTime, at: time))" : "at once"
    }

    private var eventWaits: [String] {
        (payments.events + receipts.events + fulfillment.events).flatMap { event -> [String] in
            guard event.isPublished else {
                return [
                    """
                    \(event.type) is not published after \(Age(of: event.time, at: now)): is the broker \
                    there? See 'counterfoil status'.
                    """
                ]
            }
            return consumers(of: event).open.map { name in
                guard let letter = marks[name]?.letters[event.id] else {
                    return """
                        \(name) has not acted on \(event.type) after \(Age(of: event.time, at: now)): \
                        see 'counterfoil lag'.
                        """
                }
                switch letter.state {
                case "dead":
                    return """
                        \(name) could not apply \(event.type): \
                        counterfoil dead-letters show \(name) \(letter.id)
                        """
                case "parked":
                    return """
                        \(event.type) is parked in \(name) behind a dead letter of \
                        \(payments.accountID): \
                        counterfoil dead-letters list --key \(payments.accountID)
                        """
                default:
                    return """
                        \(event.type) was \(letter.state) in \(name), so its effect never happens: \
                        counterfoil dead-letters show \(name) \(letter.id)
                        """
                }
            }
        }
    }

    /// The dead letters that hold the account back but are not about this purchase.
    private var blockers: [String] {
        let ids = Set((payments.events + receipts.events + fulfillment.events).map(\.id))
        return marks.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { name, marks in
            guard let blocker = marks.blocker,
                !marks.letters.contains(where: { ids.contains($0.key) && $0.value.id == blocker })
            else { return nil }
            return """
                Another event of \(payments.accountID) is dead in \(name) and holds back what follows: \
                counterfoil dead-letters show \(name) \(blocker)
                """
        }
    }

    private var deliveryWaits: [String] {
        fulfillment.deliveries.filter { $0.state == "pending" }.map { delivery in
            guard delivery.kind == "webhook" else {
                return "\(delivery.target) is not delivered yet: see 'counterfoil lag'."
            }
            let next = delivery.nextAttemptAt.map(when)
            return """
                The webhook \(delivery.isRefund ? "of the refund " : "")to \
                \(delivery.host ?? "its endpoint") is not confirmed \
                (\(delivery.lastResult ?? "no answer yet") after \(delivery.attempts) \
                \(delivery.attempts == 1 ? "try" : "tries")); again \(next ?? "at once").
                """
        }
    }

    private var notificationWaits: [String] {
        receipts.notifications.filter { $0.state == "pending" }.map { notification in
            "The merchant's server has not confirmed \(notification.type) yet; it is sent again by itself."
        }
    }

    private var finishWait: String? {
        guard fulfillment.isQueued, fulfillment.finishedAt == nil,
            [.purchased, .restored, .failed].contains(payments.state)
        else { return nil }
        if payments.state != .failed && !fulfillment.isDelivered { return nil }
        return "The app has not finished it: it stays in the queue of \(payments.accountID)."
    }

    // MARK: - Who acts on what

    private func consumers(of event: StoryEvent) -> (done: [ServiceName], open: [ServiceName]) {
        let topic = Topics.all.first { $0.name == event.topic }
        let names = (topic?.consumers ?? [])
            .filter { Topics.eventTypes(actedOnBy: $0).contains(event.type) }
        return (
            names.filter { marks[$0]?.done.contains(event.id) == true },
            names.filter { marks[$0]?.done.contains(event.id) != true }
        )
    }

    private func stand(of event: StoryEvent, with consumer: ServiceName) -> String {
        guard let letter = marks[consumer]?.letters[event.id] else {
            return "not done yet by \(consumer)"
        }
        return "\(letter.state) in \(consumer) (\(letter.id))"
    }
}
