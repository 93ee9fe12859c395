extension StoreKeys {
    /// Returns settings of a service in which only the keys are real, for tests that compose a
    /// service without running it.
    ///
    /// - Parameter service: The service.
    /// - Returns: Its environment.
    public func settings(of service: StoreService) -> [String: String] {
        StoreSettings(
            options: StoreOptions(),
            keys: self,
            bootstrapServers: "127.0.0.1:1",
            replicationFactor: 1,
            contentDirectory: directory + "/contents",
            firstPorts: [.fulfillment: StoreService.fulfillment.usualPort]
        ).environment(
            of: service,
            port: service.usualPort,
            database: "postgresql://127.0.0.1:1/nothing",
            ownerDatabase: "postgresql://127.0.0.1:1/nothing"
        )
    }
}
