import ServiceFoundation

await runService(.receipts, compose: composeReceipts)
