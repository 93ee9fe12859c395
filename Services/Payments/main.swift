import ServiceFoundation

await runService(.payments, compose: composePayments)
