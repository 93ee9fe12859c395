import ServiceKit

await runService(
    "catalog",
    compose: composeCatalog,
    migrate: migrateCatalog,
    rebuild: rebuildCatalog
)
