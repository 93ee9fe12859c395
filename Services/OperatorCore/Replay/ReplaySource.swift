package import EventArchive

/// The source of the events.
package enum ReplaySource: Sendable {
    case logs
    case file(EventFileReader)
}
