import Tracing

/// Headers by their lower-case names, as tracers read and write them.
struct TraceHeaders: Injector, Extractor {
    static let traceparent = "traceparent"

    func extract(key: String, from carrier: [String: String]) -> String? {
        carrier[key.lowercased()]
    }

    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
        carrier[key.lowercased()] = value
    }
}
