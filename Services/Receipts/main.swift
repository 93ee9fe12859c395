import ServiceFoundation
import ServiceKit

await runService(
    .receipts,
    compose: composeReceipts,
    further: [
        ServiceCommand(
            "measure",
            "measure on one core what a signature, a check and a receipt cost, then exit",
            prepare: measureReceipts
        )
    ]
)
