import EventTypes
public import Foundation
import Synchronization

/// Where a download stands; the numbers are StoreKit's (spec rule 122).
public enum SKDownloadState: Int, Hashable, Sendable {
    /// Not begun.
    case waiting = 0
    /// Under way.
    case active = 1
    /// Held by the app; what is there is kept.
    case paused = 2
    /// All there, and checked against the store's digest.
    case finished = 3
    /// Ended without its content; ``SKDownload/error`` says why.
    case failed = 4
    /// Called off; what was there is gone.
    case cancelled = 5
}

/// Content that the store hosts for a transaction.
///
/// It can be downloaded from when the transaction is purchased or restored until it is finished
/// (spec rules 118 and 124). Observers are told of every change, and it shows what they were told
/// last: each of them sees the state that it is told of. Safe to use from any thread.
public final class SKDownload: Sendable, CustomStringConvertible {
    struct Fields: Sendable {
        var state = SKDownloadState.waiting
        var bytesWritten: Int64 = 0
        var timeRemaining: Duration?
        var contentURL: URL?
        var error: (any Error)?
    }

    struct Guarded: Sendable {
        /// Where it is.
        var fields = Fields()
        /// What observers were told last.
        var shown = Fields()
        /// The run that is under way.
        var task: Task<Void, Never>?
    }

    /// `timeRemaining` where nobody knows.
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
        // A transaction holds its downloads, not the other way round as well.
        weak let owner = transaction
        self.owner = { owner }
    }

    /// The transaction that it belongs to; `nil` once nobody holds it.
    public var transaction: SKPaymentTransaction? { owner() }
    /// The queue that it is downloaded by: its transaction's, with the store and the account that it
    /// was bought from, also when the program is configured for others by now.
    var queue: SKPaymentQueue { ownersQueue ?? transaction?.queue ?? .default() }
    private var shown: Fields { guarded.withLock { $0.shown } }
    /// What the content is for: its product.
    public var contentIdentifier: String { content.contentIdentifier.rawValue }
    /// Which version of the content it is.
    public var contentVersion: String { content.version.rawValue }
    /// How many bytes it has: to be shown before a large download begins (spec rule 76).
    public var expectedContentLength: Int64 { content.length }
    /// Where it stands.
    public var state: SKDownloadState { shown.state }
    /// How much of it is there, from 0 to 1; never falls while it is under way.
    public var progress: Float {
        let shown = shown
        guard content.length > 0 else { return shown.state == .finished ? 1 : 0 }
        return Float(Double(shown.bytesWritten) / Double(content.length))
    }
    /// How many seconds the rest takes; ``timeRemainingUnknown`` where nobody knows.
    public var timeRemaining: TimeInterval {
        guard let time = shown.timeRemaining else { return Self.timeRemainingUnknown }
        return time / .seconds(1)
    }
    /// The file, once it is finished.
    public var contentURL: URL? { shown.contentURL }
    /// Why it failed; `nil` unless it did.
    public var error: (any Error)? { shown.error }

    /// The download in a few words.
    public var description: String {
        "\(contentIdentifier) \(contentVersion), \(Int(progress * 100)) %, \(state)"
    }

    /// Shows what observers are told; called where they are, just before them.
    func show(_ fields: Fields) { guarded.withLock { $0.shown = fields } }
}

/// ``SKDownload`` without its prefix.
public typealias Download = SKDownload

/// ``SKDownloadState`` without its prefix.
public typealias DownloadState = SKDownloadState
