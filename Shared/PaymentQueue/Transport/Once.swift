import Synchronization

/// Remembers that something happened.
final class Once: Sendable {
    private let fired = Atomic(false)

    var hasFired: Bool { fired.load(ordering: .acquiring) }

    @Sendable func fire() { fired.store(true, ordering: .releasing) }
}
