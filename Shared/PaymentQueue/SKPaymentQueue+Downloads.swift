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
    /// of the store for it.
    @available(*, deprecated, message: "Use SKDownload.start()")
    public func start(_ downloads: [SKDownload]) { begin(downloads) }

    /// Calls downloads off and throws away what is there (spec rule 119).
    @available(*, deprecated, message: "Use SKDownload.cancel()")
    public func cancel(_ downloads: [SKDownload]) { callOff(downloads) }

    /// Holds downloads; what is there is kept (spec rule 120).
    @available(*, deprecated, message: "Use SKDownload.pause()")
    public func pause(_ downloads: [SKDownload]) { hold(downloads) }

    /// Goes on with downloads from where they are, also after the program was killed (spec rule
    /// 121).
    @available(*, deprecated, message: "Use SKDownload.resume()")
    public func resume(_ downloads: [SKDownload]) { begin(downloads) }

    fileprivate func begin(_ downloads: [SKDownload]) {
        for download in downloads {
            let refusal = refusal(of: download)
            let isNew = download.fields.withLock { fields in
                switch fields.state {
                case .active, .finished: return false
                case .waiting, .paused, .failed, .cancelled: break
                }
                fields.error = refusal
                fields.state = refusal == nil ? .active : .failed
                if let transport, refusal == nil {
                    // One that was paused a moment ago lets go of its file first.
                    let before = fields.task
                    fields.task = Task {
                        await before?.value
                        await self.run(download, transport)
                    }
                }
                return true
            }
            if isNew { tell(of: [download]) }
        }
    }

    fileprivate func hold(_ downloads: [SKDownload]) {
        tell(
            of: downloads.filter { download in
                download.fields.withLock { fields in
                    guard fields.state == .active else { return false }
                    fields.state = .paused
                    fields.timeRemaining = nil
                    fields.task?.cancel()
                    return true
                }
            }
        )
    }

    fileprivate func callOff(_ downloads: [SKDownload]) {
        for download in downloads {
            let isNews = download.fields.withLock { fields in
                guard let transport, fields.state != .cancelled, fields.state != .finished else {
                    return false
                }
                fields.state = .cancelled
                fields.timeRemaining = nil
                fields.bytesWritten = 0
                let running = fields.task
                running?.cancel()
                // What begins it again waits for this.
                fields.task = Task {
                    await running?.value
                    await self.discard(download, transport)
                }
                return true
            }
            if isNews { tell(of: [download]) }
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
        callOff(transaction.downloads.filter { $0.state == .active || $0.state == .paused })
    }

    private func refusal(of download: SKDownload) -> SKError? {
        guard transport != nil else { return .notConfigured }
        guard let transaction = download.transaction, transaction.transactionState.isPaid,
            transactions.contains(where: { $0 === transaction })
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
                let isNews = download.fields.withLock { fields in
                    guard fields.state == .active else { return false }
                    fields.bytesWritten = max(fields.bytesWritten, progress.bytesWritten)
                    fields.timeRemaining = progress.timeRemaining
                    return true
                }
                if isNews { self.tell(of: [download]) }
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
        let isNews = download.fields.withLock { fields in
            guard fields.state == .active, !Task.isCancelled else { return false }
            note(&fields)
            return true
        }
        if isNews { tell(of: [download]) }
    }

    private func tell(of downloads: [SKDownload]) {
        guard !downloads.isEmpty else { return }
        tell { $0.paymentQueue(self, updatedDownloads: downloads) }
    }
}

extension SKDownload {
    /// Begins, or goes on from where it is; see ``SKPaymentQueue/start(_:)``.
    public func start() { SKPaymentQueue.default().begin([self]) }

    /// Holds it; what is there is kept.
    public func pause() { SKPaymentQueue.default().hold([self]) }

    /// Goes on from where it is, also after the program was killed.
    public func resume() { SKPaymentQueue.default().begin([self]) }

    /// Calls it off and throws away what is there.
    public func cancel() { SKPaymentQueue.default().callOff([self]) }
}

extension StoreTransport {
    /// Downloads wait for bytes, but not for ever: a connection that says nothing is another one's.
    private static let downloads: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.read = .seconds(30)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
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
