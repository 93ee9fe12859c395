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
/// (spec rules 118 and 124). Observers are told of every change. Safe to use from any thread.
public final class SKDownload: Sendable, CustomStringConvertible {
    struct Fields: Sendable {
        var state = SKDownloadState.waiting
        var bytesWritten: Int64 = 0
        var timeRemaining: Duration?
        var contentURL: URL?
        var error: (any Error)?
        /// The run that is under way.
        var task: Task<Void, Never>?
    }

    /// `timeRemaining` where nobody knows.
    public static let timeRemainingUnknown: TimeInterval = -1

    let content: HostedContent
    let transactionID: TransactionID
    let fields = Mutex(Fields())
    private let owner: @Sendable () -> SKPaymentTransaction?

    init(_ content: HostedContent, of transaction: SKPaymentTransaction, _ id: TransactionID) {
        self.content = content
        transactionID = id
        // A transaction holds its downloads, not the other way round as well.
        weak let owner = transaction
        self.owner = { owner }
    }

    /// The transaction that it belongs to; `nil` once nobody holds it.
    public var transaction: SKPaymentTransaction? { owner() }
    /// What the content is for: its product.
    public var contentIdentifier: String { content.contentIdentifier.rawValue }
    /// Which version of the content it is.
    public var contentVersion: String { content.version.rawValue }
    /// How many bytes it has: to be shown before a large download begins (spec rule 76).
    public var expectedContentLength: Int64 { content.length }
    /// Where it stands.
    public var state: SKDownloadState { fields.withLock { $0.state } }
    /// How much of it is there, from 0 to 1; never falls while it is under way.
    public var progress: Float {
        guard content.length > 0 else { return state == .finished ? 1 : 0 }
        return Float(Double(fields.withLock { $0.bytesWritten }) / Double(content.length))
    }
    /// How many seconds the rest takes; ``timeRemainingUnknown`` where nobody knows.
    public var timeRemaining: TimeInterval {
        guard let time = fields.withLock({ $0.timeRemaining }) else {
            return Self.timeRemainingUnknown
        }
        return time / .seconds(1)
    }
    /// The file, once it is finished.
    public var contentURL: URL? { fields.withLock { $0.contentURL } }
    /// Why it failed; `nil` unless it did.
    public var error: (any Error)? { fields.withLock { $0.error } }

    /// The download in a few words.
    public var description: String {
        "\(contentIdentifier) \(contentVersion), \(Int(progress * 100)) %, \(state)"
    }
}
