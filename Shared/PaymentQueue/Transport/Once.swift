import Synchronization

/// A flag that is set once.
final class Once: Sendable {
    private let fired = Atomic(false)

    var hasFired: Bool { fired.load(ordering: .acquiring) }

    @Sendable func fire() { fired.store(true, ordering: .releasing) }
}
