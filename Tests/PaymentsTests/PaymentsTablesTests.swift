import EventTypes
import Messaging
import Rebuild
import TestSupport
import Testing

@testable import Payments

@Suite struct PaymentsTablesTests {
    /// The columns that a rebuild leaves out, with the reason.
    private static let leftOut: [String: String] = [
        "book_memory":
            "When the store was last seen is in no event.",
        "clock_advances":
            "An administrator asked for them; what they did is in the steps of the clock.",
        "code_campaigns":
            "An administrator made them; they are in no event.",
        "code_redemptions":
            "Which code gave an offer is in no event; which offer it was, is.",
        "found_attempts":
            "How the processor was asked is in no event.",
        "family_work":
            "Whose shares have to be looked at follows from what changes.",
        "mass_extensions.traceparent last_id looked_at_id left_ids":
            "How far a request has come is in its subscriptions.",
        "offer_codes":
            "The digests of codes are in no event.",
        "price_enrolments":
            "They follow from the products, and how far they are is in no event.",
        "redemption_tickets":
            "What opens the page for codes is in no event.",
        "redemption_tries":
            "What people type is in no event.",
        "offer_nonces":
            "The signatures of requests are in no event.",
        "refund_keys":
            "The keys of requests are in no event.",
        "refund_requests.idempotency_key":
            "The keys of requests are in no event.",
        "restores":
            "The keys of requests are in no event.",
        """
        processor_attempts.attempt_id step payment_method is_approved call_count \
        undoes idempotency_key fingerprint reference lease_owner due_at \
        approval_ends_at waits_for renewal_try is_owed first_called_at generation \
        is_uncalled action_ends_at advice failed_reference callable_since \
        is_buyer_present doubted_since
        """:
            "How the processor was called is in no event.",
        "purchase_intents.idempotency_key":
            "The keys of requests are in no event.",
        "subscriptions.payment_method due_at due_kind charging_since tries":
            "What is charged next follows from the subscription and from its attempts.",
        "test_settings":
            "What a test asks of a sandbox is in no event; what came of it is.",
        "transactions.idempotency_key fingerprint":
            "The keys of requests are in no event.",
        "transactions.renewal_charge":
            "It is a part of the period, which is compared.",
        "processor_customers":
            "What buyers have saved at the processor is in no event.",
        "payment_methods":
            "What buyers have saved at the processor is in no event.",
        "processor_events":
            "What the processor tells is asked for again.",
        "processor_event_places":
            "How far the processor's list was read is in no event.",
        "processor_movements":
            "What moved at the processor is in its list, which is read again.",
        "processor_balances":
            "What the processor says of its balance is in no event, and is asked again.",
        "processor_disputes":
            "What is to be answered at the processor is in no event; what the money did, is.",
        "processor_movement_places":
            "How far the processor's list was read is in no event.",
        "store_clock.id latest status advance_key failure epoch":
            "Only the steps of the clock are in events.",
        "ledger_postings.position xid":
            "The place of a posting in the order of commits.",
    ]

    /// Otherwise a proof would pass over a new table or column unnoticed.
    @Test func everyColumnIsComparedOrLeftOutForAReason() async throws {
        let compared = Dictionary(
            uniqueKeysWithValues: PaymentsTables.all.map { ($0.name, Set($0.columns.map(\.name))) }
        )
        let problems = try await TestDatabase.unexplainedColumns(
            of: PaymentsMigrations.all,
            without: MessagingMigrations.all(role: ServiceName.payments.databaseRole),
            compared: compared,
            leftOut: Self.leftOut
        )
        #expect(problems == [])
    }
}
