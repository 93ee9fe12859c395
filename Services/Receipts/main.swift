import ServiceKit

await runService("receipts", compose: composeReceipts, migrate: migrateReceipts, rebuild: rebuildReceipts)
