public import ServiceLifecycle

/// What a service is made of.
public struct Composition: Sendable {
    /// The parts, in the order in which they start; they are shut down in reverse.
    public var services: [any Service]
    /// What `/health/ready` asks and the log reports.
    public var readiness: [ReadinessCheck]

    /// Makes a composition.
    ///
    /// - Parameters:
    ///   - services: The parts, in the order in which they start.
    ///   - readiness: What has to be there before the service can do its work.
    public init(services: [any Service], readiness: [ReadinessCheck]) {
        self.services = services
        self.readiness = readiness
    }
}
