import EventTypes
public import Logging
public import ServiceKit

/// Runs a service's command line: the whole of its `main`.
///
/// - Parameters:
///   - definition: The service.
///   - compose: Reads the settings and composes the service. It may read files that settings
///     name, and opens no connection.
public func runService(
    _ definition: ServiceDefinition,
    compose: @Sendable (inout SettingsReader, Logger) throws -> Composition
) async -> Never {
    await runService(
        definition.name.rawValue,
        compose: compose,
        migrate: definition.migrate,
        rebuild: definition.rebuild,
        further: definition.commands
    )
}
