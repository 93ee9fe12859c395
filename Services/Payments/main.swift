import ServiceKit

await runService(
    "payments",
    compose: composePayments,
    migrate: migratePayments,
    rebuild: rebuildPayments
)
