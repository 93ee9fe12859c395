public import EventTypes
import Foundation

/// The store's contract with other programs: every HTTP route as OpenAPI 3.1, and every topic as
/// AsyncAPI 3.
///
/// The documents are part of this module. They are assembled from the files beside this one: a file
/// of routes for each group of a service's routes, and schemas that routes and events share.
/// Nothing is read from disk at run time, so a service cannot be deployed without its contract.
public enum Contract {
    /// The services, all of which answer HTTP.
    public typealias Service = ServiceName

    /// The OpenAPI document of one service, or of all.
    ///
    /// - Parameter service: The service whose routes and schemas to include; `nil` for all.
    /// - Returns: JSON with sorted keys: the same bytes at every call.
    /// - Throws: ``ContractError`` if the files contradict each other.
    public static func openAPI(of service: Service? = nil) throws -> [UInt8] {
        let whole = try OpenAPIDocument()
        return try (service.map(whole.part) ?? whole).members.json()
    }

    /// The AsyncAPI document of all services.
    ///
    /// - Returns: JSON with sorted keys: the same bytes at every call.
    /// - Throws: ``ContractError`` if the files contradict each other.
    public static func asyncAPI() throws -> [UInt8] {
        var members = try JSONObject(parsing: PackageResources.asyncapi_json)
        try members.merge(JSONObject(parsing: PackageResources.domain_json))
        try members.merge(JSONObject(parsing: PackageResources.events_json))
        return try members.json()
    }

    /// The routes of a service according to its document: `GET /v1/products`.
    ///
    /// - Throws: ``ContractError`` if the files contradict each other.
    public static func operations(of service: Service) throws -> Set<String> {
        try OpenAPIDocument().part(service).operations
    }

    /// The scopes of each route of administrators according to a service's document; any one of
    /// them opens the route.
    ///
    /// - Throws: ``ContractError`` if the files contradict each other.
    public static func administratorScopes(
        of service: Service
    ) throws -> [String: Set<String>] {
        try OpenAPIDocument().part(service).administratorScopes
    }
}

/// The files of the contracts contradict each other, or one is not JSON.
public struct ContractError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem.
    public let description: String

    init(_ description: String) { self.description = description }
}
