import EventTypes
public import Foundation
import Synchronization

/// The states of a download, with StoreKit's numbers (spec rule 122).
public enum SKDownloadState: Int, Hashable, Sendable {
    /// The download has not begun.
    case waiting = 0
    /// The download is in progress.
    case active = 1
    /// The app has paused the download. The downloaded bytes are kept.
    case paused = 2
    /// The content is complete and matches the store's digest.
    case finished = 3
    /// The download failed. ``SKDownload/error`` contains the reason.
    case failed = 4
    /// The app cancelled the download, and its bytes were deleted.
    case cancelled = 5
}

/// A content that the store hosts for a transaction.
///
/// It can be downloaded while the transaction is purchased or restored, until it is finished (spec
/// rules 118 and 124). Observers are informed of every change. The properties show the state that
/// observers last received, so each observer sees the state it is called for. It is safe to use
/// from any thread.
public final class SKDownload: Sendable, CustomStringConvertible {
    struct Fields: Sendable {
        var state = SKDownloadState.waiting
        var bytesWritten: Int64 = 0
        var timeRemaining: Duration?
        var contentURL: URL?
        var error: (any Error)?
    }

    struct Guarded: Sendable {
        /// The current state.
        var fields = Fields()
        /// The state that observers last received.
        var shown = Fields()
        /// The run that is in progress.
        var task: Task<Void, Never>?
    }

    /// The value of `timeRemaining` if the remaining time is not known.
    public static let timeRemainingUnknown: TimeInterval = -1

    let content: HostedContent
    let transactionID: TransactionID
    let guarded = Mutex(Guarded())
    private let owner: @Sendable () -> SKPaymentTransaction?
    private let ownersQueue: SKPaymentQueue?

    init(
        _ content: HostedContent,
        of transaction: SKPaymentTransaction,
        _ id: TransactionID,
        in queue: SKPaymentQueue?
    ) {
        self.content = content
        transactionID = id
        ownersQueue = queue
        // A transaction retains its downloads, so a download must not retain its transaction.
        weak let owner = transaction
        self.owner = { owner }
    }

    /// The transaction that the download belongs to; `nil` once the transaction has been released.
    public var transaction: SKPaymentTransaction? { owner() }
    /// The queue that downloads the content.
    ///
    /// It is the queue of the transaction, with the original store and account, even if the program
    /// has since been configured for others.
    var queue: SKPaymentQueue { ownersQueue ?? transaction?.queue ?? .default() }
    private var shown: Fields { guarded.withLock { $0.shown } }
    /// The identifier of the content: its product.
    public var contentIdentifier: String { content.contentIdentifier.rawValue }
    /// The version of the content.
    public var contentVersion: String { content.version.rawValue }
    /// The length of the content in bytes.
    ///
    /// Show it before a large download begins (spec rule 76).
    public var expectedContentLength: Int64 { content.length }
    /// The state of the download.
    public var state: SKDownloadState { shown.state }
    /// The downloaded fraction, from 0 to 1.
    ///
    /// It never decreases while the download is in progress.
    public var progress: Float {
        let shown = shown
        guard content.length > 0 else { return shown.state == .finished ? 1 : 0 }
        return Float(Double(shown.bytesWritten) / Double(content.length))
    }
    /// The remaining time in seconds; ``timeRemainingUnknown`` if it is not known.
    public var timeRemaining: TimeInterval {
        guard let time = shown.timeRemaining else { return Self.timeRemainingUnknown }
        return time / .seconds(1)
    }
    /// The URL of the file, once the download is finished.
    public var contentURL: URL? { shown.contentURL }
    /// The reason for the failure; `nil` unless the download failed.
    public var error: (any Error)? { shown.error }

    /// A short description of the download.
    public var description: String {
        "\(contentIdentifier) \(contentVersion), \(Int(progress * 100)) %, \(state)"
    }

    /// Shows a state to observers.
    ///
    /// It is called on the callback queue, just before they are called.
    func show(_ fields: Fields) { guarded.withLock { $0.shown = fields } }
}

/// ``SKDownload`` without its prefix.
public typealias Download = SKDownload

/// ``SKDownloadState`` without its prefix.
public typealias DownloadState = SKDownloadState
