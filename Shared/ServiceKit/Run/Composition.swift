public import ServiceLifecycle

/// The parts of a service.
public struct Composition: Sendable {
    /// The parts, in the order in which they start; they are shut down in reverse.
    public var services: [any Service]
    /// The checks that `/health/ready` answers with and the log reports.
    public var readiness: [ReadinessCheck]

    /// Makes a composition.
    ///
    /// - Parameters:
    ///   - services: The parts, in the order in which they start.
    ///   - readiness: The conditions that must hold before the service can work.
    public init(services: [any Service], readiness: [ReadinessCheck]) {
        self.services = services
        self.readiness = readiness
    }
}
