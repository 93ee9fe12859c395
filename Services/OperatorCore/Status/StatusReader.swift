/// Reads the state of all services, from them and from their databases.
package struct StatusReader: Sendable {
    /// The report, and the kinds of failure that kept parts of it away.
    package typealias Answer = (report: StatusReport, codes: Set<OperatorError.Code>)

    private let urls: [OperatedService: String]
    private let databases: DatabaseAddresses

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - urls: The addresses of the services.
    ///   - databases: The addresses of their databases.
    package init(urls: [OperatedService: String], databases: DatabaseAddresses) {
        self.urls = urls
        self.databases = databases
    }

    /// Reads the state of all services, all concurrently.
    ///
    /// - Returns: The report. A service that is away is in it, with the reason.
    package func answer() async -> Answer {
        let found = await withTaskGroup(of: (StatusReport.Entry, OperatorError.Code?).self) {
            group in
            for service in OperatedService.allCases {
                group.addTask { await entry(of: service) }
            }
            return await group.reduce(into: [:]) { found, next in found[next.0.service] = next }
        }
        let order = OperatedService.allCases.compactMap { found[$0] }
        return (StatusReport(services: order.map(\.0)), Set(order.compactMap(\.1)))
    }

    private func entry(
        of service: OperatedService
    ) async -> (StatusReport.Entry, OperatorError.Code?) {
        let connection = StoreConnection(
            service: service.rawValue,
            baseURL: urls[service] ?? service.defaultURL,
            token: nil
        )
        var entry = StatusReport.Entry(service: service, url: connection.baseURL, health: "away")
        var code: OperatorError.Code?
        do {
            let health = try await connection.health()
            entry.health = health.isReady ? "ready" : "not ready"
            entry.detail = health.detail
            entry.version = health.version
            if !health.isReady { code = .unavailable }
        } catch {
            entry.detail = error.description
            code = error.code
        }
        do {
            entry.database = try await DatabaseReader.read(databases.address(of: service)) {
                try StatusStore.status(of: service, on: $0)
            }
        } catch {
            let problem = error as? OperatorError
            entry.databaseProblem = problem?.description ?? "\(error)"
            code = code ?? problem?.code ?? .failed
        }
        return (entry, code)
    }
}
