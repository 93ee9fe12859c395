import AsyncHTTPClient
import EventTypes
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Starts downloads (spec rule 118).
    ///
    /// A download fails without a request to the store if its transaction is not purchased or
    /// restored, or is finished. Each download uses the queue of its own transaction, no matter
    /// which queue this is.
    @available(*, deprecated, message: "Use SKDownload.start()")
    public func start(_ downloads: [SKDownload]) {
        for download in downloads { download.start() }
    }

    /// Cancels downloads and deletes their bytes (spec rule 119).
    @available(*, deprecated, message: "Use SKDownload.cancel()")
    public func cancel(_ downloads: [SKDownload]) {
        for download in downloads { download.cancel() }
    }

    /// Pauses downloads and keeps their bytes (spec rule 120).
    @available(*, deprecated, message: "Use SKDownload.pause()")
    public func pause(_ downloads: [SKDownload]) {
        for download in downloads { download.pause() }
    }

    /// Resumes downloads where they stopped, even after the program was killed (spec rule 121).
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
                    // A download that was paused a moment ago must first close its file.
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
                // A later start waits for this task.
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
                "The downloaded part of a content could not be removed",
                metadata: ["download": "\(download)", "error": "\(error)"]
            )
        }
    }

    /// Ends the downloads of a finished transaction, which has none any more (spec rule 51).
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

    /// Records how a run ended, unless it was paused or cancelled in the meantime.
    private func end(_ download: SKDownload, _ note: (inout SKDownload.Fields) -> Void) {
        change(download) { guarded in
            guard guarded.fields.state == .active, !Task.isCancelled else { return false }
            note(&guarded.fields)
            return true
        }
    }

    /// Changes a download and informs the observers.
    ///
    /// Both happen under the download's lock, so that observers receive changes in order. Each time
    /// the download shows the state of that change.
    ///
    /// - Parameters:
    ///   - download: The download.
    ///   - body: Changes the download and returns whether observers must be informed.
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
    /// Starts the download, or resumes it where it stopped.
    ///
    /// See ``SKPaymentQueue/start(_:)``.
    public func start() { queue.begin([self]) }

    /// Pauses the download and keeps its bytes.
    public func pause() { queue.hold([self]) }

    /// Resumes the download where it stopped, even after the program was killed.
    public func resume() { queue.begin([self]) }

    /// Cancels the download and deletes its bytes.
    public func cancel() { queue.callOff([self]) }
}

extension StoreTransport {
    /// Downloads have a read timeout, so that a silent connection is replaced.
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
