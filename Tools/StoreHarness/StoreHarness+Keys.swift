extension StoreHarness {
    /// Makes or borrows the keys of a store, and makes those of its further apps.
    ///
    /// Certificates contain the address at which `receipts` answers about their status, so borrowed keys
    /// choose its port.
    ///
    /// - Parameters:
    ///   - options: The store's options.
    ///   - directory: The folder of the keys.
    ///   - ports: The port of the first instance of each service.
    /// - Returns: The keys.
    /// - Throws: An error if a key cannot be created, copied or read.
    static func keys(
        for options: StoreOptions,
        in directory: String,
        ports: inout [StoreService: Int]
    ) async throws -> StoreKeys {
        let keys = try await firstKeys(for: options, in: directory, ports: &ports)
        for app in options.furtherApps {
            try await keys.add(
                app,
                receiptsPort: ports[.receipts] ?? StoreService.receipts.usualPort
            )
        }
        return keys
    }

    private static func firstKeys(
        for options: StoreOptions,
        in directory: String,
        ports: inout [StoreService: Int]
    ) async throws -> StoreKeys {
        if case .shared = options.database, options.directory == nil, !options.usesUsualPorts {
            let original = try await LentKeys.shared.lend()
            ports[.receipts] = original.receiptsPort
            return try await StoreKeys.copy(original.directory, to: directory)
        }
        return try await StoreKeys.create(
            in: directory,
            receiptsPort: ports[.receipts] ?? StoreService.receipts.usualPort
        )
    }
}
