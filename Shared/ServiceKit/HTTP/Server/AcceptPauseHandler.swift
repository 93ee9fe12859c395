import Foundation
import Logging
import Metrics
import NIOCore

/// Pauses for a moment when a connection cannot be accepted for lack of descriptors or memory.
///
/// The connection stays in the kernel's queue, and the socket stays readable. Without the pause the
/// event loop would only repeat the failing call. If the error were passed on, the server would
/// never accept again.
final class AcceptPauseHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let pause: TimeAmount
    private let warning: OccasionalWarning
    private let failures = Counter(label: "http_accept_failures")
    private var isResting = false

    /// Makes a handler for the listening channel.
    ///
    /// - Parameters:
    ///   - pause: The length of the pause.
    ///   - logger: Receives the reason, at most every ten seconds.
    init(pause: TimeAmount = .milliseconds(500), logger: Logger) {
        self.pause = pause
        warning = OccasionalWarning("Connections cannot be accepted; they wait", logger: logger)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, Self.passesByItself(error.errnoCode) else {
            context.fireErrorCaught(error)
            return
        }
        failures.increment()
        warning.warn(of: error, count: 1)
        guard !isResting else { return }
        isResting = true
        let channel = context.channel
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        // This fails only on a closed channel, which accepts nothing anyway.
        channel.setOption(.autoRead, value: false).whenFailure { _ in }
        context.eventLoop.scheduleTask(in: pause) {
            bound.value.isResting = false
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }

    /// Whether accepting can work again once descriptors or memory have been released.
    private static func passesByItself(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
}
