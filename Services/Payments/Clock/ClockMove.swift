/// The result of a command to the store's clock.
enum ClockMove: Hashable, Sendable {
    /// The state changes. If its step is a new one, an event reports it to every service.
    case moved(ClockState)
    /// The command was carried out before; nothing changes.
    case unchanged
    /// The command is refused; nothing changes.
    case refused(ClockRefusal)
}
