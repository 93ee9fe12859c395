import Foundation
import Logging
import Metrics
import NIOCore

/// Rests for a moment when a connection cannot be accepted for want of descriptors or memory.
///
/// The connection stays in the kernel's queue, and the socket stays readable: without the rest the
/// event loop would ask the kernel again and again and get nothing else done. With the error passed
/// on, the server would never accept again.
final class AcceptPauseHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let pause: TimeAmount
    private let warning: OccasionalWarning
    private let failures = Counter(label: "http_accept_failures")
    private var isResting = false

    /// Makes a handler for the channel that listens.
    ///
    /// - Parameters:
    ///   - pause: How long it rests.
    ///   - logger: Told why, at most every ten seconds.
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
        // Fails only on a channel that is closed, which rests for good.
        channel.setOption(.autoRead, value: false).whenFailure { _ in }
        context.eventLoop.scheduleTask(in: pause) {
            bound.value.isResting = false
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }

    /// Whether accepting works again once others have given something back.
    private static func passesByItself(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
}
