import ServiceKit

await runService(
    "fulfillment",
    compose: composeFulfillment,
    migrate: migrateFulfillment,
    rebuild: rebuildFulfillment
)
