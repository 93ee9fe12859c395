import AsyncHTTPClient
import EventTypes
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Begins downloads (spec rule 118).
    ///
    /// One whose transaction is not purchased or restored, or is finished, fails; nothing is asked
    /// of the store for it. Each is downloaded by the queue that its transaction is of, whichever
    /// queue this is.
    @available(*, deprecated, message: "Use SKDownload.start()")
    public func start(_ downloads: [SKDownload]) {
        for download in downloads { download.start() }
    }

    /// Calls downloads off and throws away what is there (spec rule 119).
    @available(*, deprecated, message: "Use SKDownload.cancel()")
    public func cancel(_ downloads: [SKDownload]) {
        for download in downloads { download.cancel() }
    }

    /// Holds downloads; what is there is kept (spec rule 120).
    @available(*, deprecated, message: "Use SKDownload.pause()")
    public func pause(_ downloads: [SKDownload]) {
        for download in downloads { download.pause() }
    }

    /// Goes on with downloads from where they are, also after the program was killed (spec rule
    /// 121).
    @available(*, deprecated, message: "Use SKDownload.resume()")
    public func resume(_ downloads: [SKDownload]) {
        for download in downloads { download.resume() }
    }

    fileprivate func begin(_ downloads: [SKDownload]) {
        for download in downloads {
            let refusal = refusal(of: download)
            change(download) { guarded in
                switch guarded.fields.state {
                case .active, .finished: return false
                case .waiting, .paused, .failed, .cancelled: break
                }
                guarded.fields.error = refusal
                guarded.fields.state = refusal == nil ? .active : .failed
                if let transport, refusal == nil {
                    // One that was paused a moment ago lets go of its file first.
                    let before = guarded.task
                    guarded.task = Task {
                        await before?.value
                        await self.run(download, transport)
                    }
                }
                return true
            }
        }
    }

    fileprivate func hold(_ downloads: [SKDownload]) {
        for download in downloads {
            change(download) { guarded in
                guard guarded.fields.state == .active else { return false }
                guarded.fields.state = .paused
                guarded.fields.timeRemaining = nil
                guarded.task?.cancel()
                return true
            }
        }
    }

    fileprivate func callOff(_ downloads: [SKDownload]) {
        for download in downloads {
            change(download) { guarded in
                guard let transport, guarded.fields.state != .cancelled,
                    guarded.fields.state != .finished
                else { return false }
                guarded.fields.state = .cancelled
                guarded.fields.timeRemaining = nil
                guarded.fields.bytesWritten = 0
                let running = guarded.task
                running?.cancel()
                // What begins it again waits for this.
                guarded.task = Task {
                    await running?.value
                    await self.discard(download, transport)
                }
                return true
            }
        }
    }

    private func discard(_ download: SKDownload, _ transport: StoreTransport) async {
        do {
            try await transport.download(download).discard()
        } catch {
            logger.warning(
                "What was downloaded of a content is still there",
                metadata: ["download": "\(download)", "error": "\(error)"]
            )
        }
    }

    /// A finished transaction has no downloads any more (spec rule 51).
    func tearDownDownloads(of transaction: SKPaymentTransaction) {
        callOff(
            transaction.downloads.filter { download in
                let state = download.guarded.withLock { $0.fields.state }
                return state == .active || state == .paused
            }
        )
    }

    private func refusal(of download: SKDownload) -> SKError? {
        guard transport != nil else { return .notConfigured }
        guard let transaction = download.transaction, transaction.transactionState.isPaid,
            !transaction.hasLeft
        else {
            return SKError(
                .clientInvalid,
                detail: "only an unfinished transaction that is purchased or restored has downloads"
            )
        }
        return nil
    }

    private func run(_ download: SKDownload, _ transport: StoreTransport) async {
        do {
            let path = try await transport.download(download).run { progress in
                self.change(download) { guarded in
                    guard guarded.fields.state == .active else { return false }
                    guarded.fields.bytesWritten = max(
                        guarded.fields.bytesWritten,
                        progress.bytesWritten
                    )
                    guarded.fields.timeRemaining = progress.timeRemaining
                    return true
                }
            }
            end(download) { fields in
                fields.state = .finished
                fields.bytesWritten = download.content.length
                fields.timeRemaining = .zero
                fields.contentURL = URL(fileURLWithPath: path)
            }
        } catch {
            end(download) { fields in
                fields.state = .failed
                fields.timeRemaining = nil
                fields.error = SKError(error)
            }
        }
    }

    /// Notes how a run ended, unless it was paused or called off meanwhile.
    private func end(_ download: SKDownload, _ note: (inout SKDownload.Fields) -> Void) {
        change(download) { guarded in
            guard guarded.fields.state == .active, !Task.isCancelled else { return false }
            note(&guarded.fields)
            return true
        }
    }

    /// Changes a download and tells the observers, under its lock, so that they hear of it in its
    /// order; each time it shows what it was then.
    ///
    /// - Parameters:
    ///   - download: The download.
    ///   - body: Returns whether it is news.
    private func change(_ download: SKDownload, _ body: (inout SKDownload.Guarded) -> Bool) {
        download.guarded.withLock { guarded in
            guard body(&guarded) else { return }
            let fields = guarded.fields
            callbacks.async { download.show(fields) }
            tell { $0.paymentQueue(self, updatedDownloads: [download]) }
        }
    }
}

extension SKDownload {
    /// Begins, or goes on from where it is; see ``SKPaymentQueue/start(_:)``.
    public func start() { queue.begin([self]) }

    /// Holds it; what is there is kept.
    public func pause() { queue.hold([self]) }

    /// Goes on from where it is, also after the program was killed.
    public func resume() { queue.begin([self]) }

    /// Calls it off and throws away what is there.
    public func cancel() { queue.callOff([self]) }
}

extension StoreTransport {
    /// Downloads wait for bytes, but not for ever: a connection that says nothing is another one's.
    private static let downloads: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.read = .seconds(30)
        return HTTPClient(eventLoopGroupProvider: sockets, configuration: configuration)
    }()

    fileprivate func download(_ download: SKDownload) -> ContentDownload {
        ContentDownload(
            url: configuration.addresses.fulfillment
                + Routes.content(download.content.contentIdentifier, of: download.transactionID),
            length: download.content.length,
            digest: download.content.sha256,
            directory: configuration.downloadDirectory.path,
            token: { try await tokens.token() },
            fetch: { request in
                var request = request
                request.tlsConfiguration = tls
                let response = try await Self.downloads.execute(request, deadline: .distantFuture)
                guard response.status == .unauthorized else { return response }
                let refused = request.headers.first(name: "authorization")?.dropFirst(
                    "Bearer ".count
                )
                let token = try await tokens.token(insteadOf: refused.map(String.init))
                request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(token)")
                return try await Self.downloads.execute(request, deadline: .distantFuture)
            }
        )
    }
}
