import EventTypes
import Foundation
import Messaging
import Postgres
import StoreAPI

/// The SQL of a purchase's story: each service's books, by key.
enum StoryStore {
    /// Reads the data of `payments` and the processor; `nil` if there is no such transaction.
    static func payments(
        _ id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> PaymentsChapter? {
        guard
            let row = try connection.query(
                """
                SELECT original_id, reason, state, account_id, bundle_id, product_id, quantity, price,
                    currency, storefront, requested_at, purchased_at, failure_reason, revoked_at,
                    refunds, finished_at
                FROM transactions WHERE id = \(id.number)
                """
            ).first
        else { return nil }
        let (
            original, reason, state, account, bundle, product, quantity, price, currency,
            storefront, requested, purchased, failure, revoked, refunds, finished
        ) = try row.decode(
            Int64.self,
            String.self,
            String.self,
            AccountID.self,
            BundleID.self,
            ProductID.self,
            Int32.self,
            Int64.self,
            Currency.self,
            Storefront.self,
            StoreTime.self,
            StoreTime?.self,
            String?.self,
            StoreTime?.self,
            PostgresJSON?.self,
            StoreTime?.self
        )
        var chapter = PaymentsChapter(
            id: id,
            originalID: TransactionID(number: original),
            reason: TransactionReason(rawValue: reason),
            state: TransactionState(rawValue: state),
            accountID: account,
            bundleID: bundle,
            productID: product,
            quantity: Int(quantity),
            price: Money(minorUnits: price, currency: currency),
            storefront: storefront,
            requestedAt: requested,
            purchasedAt: purchased,
            failureReason: failure,
            revokedAt: revoked,
            refunds: try refunds.map {
                try JSONDecoder().decode([Refund].self, from: Data($0.bytes))
            } ?? [],
            finishedAt: finished
        )
        chapter.attempts = try attempts(id, on: connection)
        chapter.processor = try processor(id, on: connection)
        chapter.postings = try postings(id, on: connection)
        try addResumptions(of: id, to: &chapter, on: connection)
        try SubscriptionStoryStore.addSubscription(to: &chapter, on: connection)
        chapter.events = try StoryEventStore.events(of: id, since: requested, on: connection)
        return chapter
    }

    /// Adds which transaction resumes this one, and which one this resumes.
    private static func addResumptions(
        of id: TransactionID,
        to chapter: inout PaymentsChapter,
        on connection: isolated PostgresConnection
    ) throws {
        for row in try connection.query(
            """
            SELECT failed_id, transaction_id, created_at FROM resumptions
            WHERE failed_id = \(id.number)
            UNION ALL
            SELECT failed_id, transaction_id, created_at FROM resumptions
            WHERE transaction_id = \(id.number)
            """
        ) {
            let (failed, resuming, time) = try row.decode(Int64.self, Int64.self, StoreTime.self)
            if failed == id.number {
                chapter.resumedBy = (resuming, time)
            } else {
                chapter.resumes = failed
            }
        }
    }

    /// Reads the data of `receipts`.
    static func receipts(
        _ id: TransactionID,
        since time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> ReceiptsChapter {
        var chapter = ReceiptsChapter()
        if let row = try connection.query(
            """
            SELECT signed_at, revision, signing_chain, revoked_at IS NOT NULL
            FROM signed_transactions WHERE transaction_id = \(id.number)
            """
        ).first {
            let (signed, revision, chain, isRevoked) = try row.decode(
                StoreTime.self,
                Int32.self,
                Int32.self,
                Bool.self
            )
            chapter.receipt = ReceiptsChapter.Receipt(
                signedAt: signed,
                revision: Int(revision),
                chain: Int(chain),
                isRevoked: isRevoked
            )
        }
        chapter.finishedAt = try connection.query(
            "SELECT finished_at FROM transaction_finishes WHERE transaction_id = \(id.number)"
        ).first?.decode(StoreTime.self)
        // The condition is that of the index.
        for row in try connection.query(
            """
            SELECT id, type, state, signed_at, next_attempt_at FROM notifications
            WHERE transaction_id = \(id.number) AND NOT is_asked_for ORDER BY signed_at
            """
        ) {
            let (notification, type, state, signed, next) = try row.decode(
                EventID.self,
                String.self,
                String.self,
                StoreTime.self,
                MachineTime?.self
            )
            let attempts = try connection.query(
                """
                SELECT attempted_at, result FROM notification_attempts
                WHERE notification_id = \(notification) ORDER BY attempt
                """
            ).map { row -> (time: StoreTime, result: String) in
                try row.decode(StoreTime.self, String.self)
            }
            chapter.notifications.append(
                ReceiptsChapter.Notification(
                    type: type,
                    state: state,
                    signedAt: signed,
                    nextAttemptAt: next,
                    attempts: attempts
                )
            )
        }
        chapter.events = try StoryEventStore.events(of: id, since: time, on: connection)
        return chapter
    }

    /// Reads the data of `fulfillment`.
    static func fulfillment(
        _ id: TransactionID,
        since time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> FulfillmentChapter {
        var chapter = FulfillmentChapter()
        if let row = try connection.query(
            """
            SELECT is_delivered, finished_at FROM queue_transactions
            WHERE transaction_id = \(id.number)
            """
        ).first {
            chapter.isQueued = true
            (chapter.isDelivered, chapter.finishedAt) = try row.decode(Bool.self, StoreTime?.self)
        }
        chapter.deliveries = try connection.query(
            """
            SELECT target, kind, host, state, attempts, last_attempt_at, last_result,
                next_attempt_at, delivered_at
            FROM deliveries WHERE transaction_id = \(id.number) ORDER BY target
            """
        ).map { row in
            let (target, kind, host, state, attempts, last, result, next, delivered) =
                try row.decode(
                    String.self,
                    String.self,
                    String?.self,
                    String.self,
                    Int32.self,
                    MachineTime?.self,
                    String?.self,
                    MachineTime?.self,
                    StoreTime?.self
                )
            return FulfillmentChapter.Delivery(
                target: DeliveryTargetName(rawValue: target),
                kind: kind,
                host: host,
                state: state,
                attempts: Int(attempts),
                lastAttemptAt: last,
                lastResult: result,
                nextAttemptAt: next,
                deliveredAt: delivered
            )
        }
        chapter.credits = try connection.query(
            """
            SELECT unit, kind, amount, created_at FROM credit_entries
            WHERE transaction_id = \(id.number) ORDER BY created_at, unit
            """
        ).map { row in
            let (unit, kind, amount, time) = try row.decode(
                String.self,
                String.self,
                Int64.self,
                StoreTime.self
            )
            return FulfillmentChapter.Credit(unit: unit, kind: kind, amount: amount, time: time)
        }
        chapter.events = try StoryEventStore.events(of: id, since: time, on: connection)
        return chapter
    }

    // MARK: - Parts of it

    private static func attempts(
        _ id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> [PaymentsChapter.Attempt] {
        try connection.query(
            """
            SELECT kind, CASE WHEN step = 'settled' AND failed_reference = reference
                THEN 'failed' ELSE step END, payment_method, call_count, due_at, waits_for,
                (SELECT processor_account FROM payment_methods
                    WHERE token = payment_method AND processor_account <> 'default'),
                doubted_since IS NOT NULL AND step = 'calling',
                kind = 'charge' AND EXISTS (
                    SELECT FROM found_attempts found WHERE found.attempt_id = attempt.attempt_id
                        AND found.transaction_id = attempt.transaction_id)
            FROM processor_attempts attempt WHERE transaction_id = \(id.number)
            ORDER BY kind, number
            """
        ).map { row in
            let (kind, step, method, calls, due, other, account, doubt, found) = try row.decode(
                String.self,
                String.self,
                String.self,
                Int32.self,
                MachineTime?.self,
                Int64?.self,
                String?.self,
                Bool.self,
                Bool.self
            )
            return PaymentsChapter.Attempt(
                kind: kind,
                step: step,
                paymentMethod: PaymentMethod(rawValue: method),
                callCount: Int(calls),
                dueAt: due,
                waitsFor: other,
                account: account,
                isInDoubt: doubt,
                isTakenOver: found
            )
        }
    }

    private static func processor(
        _ id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> [PaymentsChapter.ProcessorEntry] {
        try connection.query(
            """
            SELECT 'charge', charge.amount, charge.currency, charge.decline_reason, charge.created_at
            FROM processor_attempts attempt
            JOIN sandbox_processor.charges charge ON charge.idempotency_key = attempt.attempt_id
            WHERE attempt.transaction_id = \(id.number) AND charge.decline_reason IS NOT NULL
            UNION ALL
            SELECT 'charge', charge.amount, charge.currency, NULL, charge.created_at
            FROM processor_attempts JOIN processor_charges charge USING (attempt_id)
            WHERE transaction_id = \(id.number)
            UNION ALL
            SELECT CASE WHEN returned.amount > 0 THEN 'refund' ELSE 'reversal' END,
                abs(returned.amount), returned.currency, NULL, returned.created_at
            FROM processor_attempts JOIN processor_returns returned USING (attempt_id)
            WHERE transaction_id = \(id.number)
            """
        ).map { row in
            let (kind, amount, currency, reason, time) = try row.decode(
                String.self,
                Int64.self,
                Currency.self,
                String?.self,
                StoreTime.self
            )
            return PaymentsChapter.ProcessorEntry(
                kind: PaymentsChapter.ProcessorEntry.Kind(rawValue: kind) ?? .charge,
                money: Money(minorUnits: amount, currency: currency),
                declineReason: reason,
                time: time
            )
        }
    }

    private static func postings(
        _ id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> [PaymentsChapter.Posting] {
        try connection.query(
            """
            SELECT kind, posted_at, currency, accounts, amounts FROM ledger_postings
            WHERE transaction_id = \(id.number) ORDER BY posted_at, xid, position
            """
        ).map { row in
            let (kind, time, currency, accounts, amounts) = try row.decode(
                String.self,
                StoreTime.self,
                Currency.self,
                [String].self,
                [Int64].self
            )
            return PaymentsChapter.Posting(
                kind: kind,
                time: time,
                entries: zip(accounts, amounts).map {
                    (account: $0, amount: Money(minorUnits: $1, currency: currency))
                }
            )
        }
    }
}
