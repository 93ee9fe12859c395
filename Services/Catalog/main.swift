import ServiceFoundation

await runService(.catalog, compose: composeCatalog)
