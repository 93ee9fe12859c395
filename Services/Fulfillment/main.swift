import ServiceFoundation

await runService(.fulfillment, compose: composeFulfillment)
