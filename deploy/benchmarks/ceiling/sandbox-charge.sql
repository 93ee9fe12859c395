-- SandboxStore.charge, over a connection of its own.
INSERT INTO sandbox_processor.charges
    (idempotency_key, payment_method, amount, currency, decline_reason)
SELECT ceiling.uuid('1', id), 'sandbox_success', 99, 'USD', NULL
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT (idempotency_key) DO NOTHING;
