import Synchronization

extension StandInServer {
    /// A charge or a refund in the stand-in's books.
    package struct Entry: Hashable, Sendable {
        /// The attempt's id in the metadata, by which the store knows it.
        package var attempt: String
        /// The transaction's id in the metadata; empty if it names none.
        package var transaction: String
        /// The payment.
        package var payment: String
        /// `charge` or `refund`.
        package var kind: String
        /// The amount, in Stripe's unit.
        package var amount: Int64
        /// The currency in lower case.
        package var currency: String

        /// Makes an entry.
        package init(
            attempt: String,
            transaction: String,
            payment: String,
            kind: String,
            amount: Int64,
            currency: String
        ) {
            self.attempt = attempt
            self.transaction = transaction
            self.payment = payment
            self.kind = kind
            self.amount = amount
            self.currency = currency
        }
    }

    /// The charges and the refunds that moved money, for an audit.
    package var entries: [Entry] {
        state.withLock { state in
            state.books.payments.filter { $0.status == .succeeded }.map {
                Entry(
                    attempt: $0.metadata["attempt"] ?? "",
                    transaction: $0.metadata["transaction"] ?? "",
                    payment: $0.id,
                    kind: "charge",
                    amount: $0.amount,
                    currency: $0.currency
                )
            }
                + state.books.refunds.filter { $0.status != "failed" }.map {
                    Entry(
                        attempt: $0.metadata["attempt"] ?? "",
                        transaction: $0.metadata["transaction"] ?? "",
                        payment: $0.payment,
                        kind: "refund",
                        amount: $0.amount,
                        currency: $0.currency
                    )
                }
        }
    }

    /// The successful payment that names a transaction of the store.
    package func payment(ofTransaction id: String) -> String? {
        state.withLock { state in
            state.books.payments.last {
                $0.status == .succeeded && $0.metadata["transaction"] == id
            }?.id
        }
    }

    /// The ids of the refunds that name a transaction of the store, the oldest first.
    package func refunds(ofTransaction id: String) -> [String] {
        state.withLock { state in
            state.books.refunds.filter { $0.metadata["transaction"] == id }.map(\.id)
        }
    }

    /// The refunds that have succeeded and not failed since, the oldest first.
    package var succeededRefunds: [(id: String, payment: String)] {
        state.withLock { state in
            state.books.refunds.filter { $0.status == "succeeded" }
                .map { (id: $0.id, payment: $0.payment) }
        }
    }

    /// The amounts that disputes have taken from payments and not given back, by the payment.
    package var withdrawn: [String: Int64] {
        state.withLock { state in
            state.books.disputes.reduce(into: [:]) { amounts, dispute in
                guard let payment = dispute.json[text: "payment_intent"],
                    case .object(let members) = dispute.json,
                    case .list(let movements)? = members["balance_transactions"]
                else { return }
                amounts[payment, default: 0] -= movements.reduce(0) {
                    $0 + ($1[number: "amount"] ?? 0)
                }
            }
        }
    }

    /// The ids of the payments that are being processed.
    package var processedPayments: [String] {
        state.withLock { state in
            state.books.payments.filter { $0.status == .processing }.map(\.id)
        }
    }

    /// The ids of the payments that have succeeded, the oldest first.
    package var succeededPayments: [String] {
        state.withLock { state in
            state.books.payments.filter { $0.status == .succeeded }.map(\.id)
        }
    }

    /// Ends what has been processed for long enough, until it is cancelled.
    func endProcessed() async {
        guard let seconds = options.processingSeconds else { return }
        while true {
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
            let (payments, refunds) = state.withLock { state in
                let end = Self.now() - seconds
                return (
                    state.books.payments.filter { $0.status == .processing && $0.created <= end },
                    state.books.refunds.filter { $0.status == "pending" && $0.created <= end }
                )
            }
            // What somebody else has ended meanwhile stays as it is.
            for payment in payments { try? end(payment: payment.id, succeeds: true) }
            for refund in refunds { try? end(refund: refund.id, succeeds: true) }
        }
    }
}
