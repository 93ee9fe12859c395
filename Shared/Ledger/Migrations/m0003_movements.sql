-- Postings of money that moves at the payment processor, and of disputes.

ALTER TABLE ledger_postings DROP CONSTRAINT posting_kind_is_known;
ALTER TABLE ledger_postings ADD CONSTRAINT posting_kind_is_known CHECK (
    kind IN (
        'purchase', 'refund', 'refund_reversal', 'stray_charge', 'stray_charge_return',
        'chargeback', 'chargeback_reversal', 'processor_movement'));
-- A movement at the processor belongs to no transaction: a payout is of many purchases, and a charge
-- may be nobody's. It is posted under transaction 0, which no purchase has.
ALTER TABLE ledger_postings ADD CONSTRAINT movements_are_of_no_transaction
    CHECK ((kind = 'processor_movement') = (transaction_id = 0));
