/// A fault that meets a few requests of the API.
package struct StandInFault: Hashable, Sendable {
    /// The kinds of faults.
    package enum Kind: Hashable, Sendable {
        /// The connection breaks before Stripe has seen the request.
        case lostBefore
        /// The connection stays open, nothing is done, and no answer comes.
        case silent
        /// Stripe does it, and the connection breaks before the answer.
        case lostAfter
        /// Stripe does it, and the connection breaks in the middle of the answer.
        case lostMidway
        /// Stripe does it, and the answer begins and does not end.
        case stalled
        /// Stripe does it, and the answer comes byte by byte and takes minutes.
        case dripping
        /// Stripe fails before it has done anything, and keeps the failure under the key.
        case errorBefore
        /// Stripe does it, fails afterwards, and keeps the failure under the key.
        case errorAfter
        /// Something in front of Stripe is down; no key is kept.
        case down
        /// There were too many requests; no key is kept.
        case rateLimit
        /// An object was locked for too long; no key is kept.
        case lockTimeout
        /// The work takes this long, and the key is in use meanwhile.
        case slow(Duration)
    }

    /// The kind.
    package var kind: Kind
    /// The beginning of the paths that are met.
    package var path: String
    /// The method that is met, or `nil` for all.
    package var method: String?
    /// The number of requests that are met.
    package var count: Int

    /// Makes a fault.
    package init(_ kind: Kind, path: String = "/v1/", method: String? = nil, count: Int = 1) {
        self.kind = kind
        self.path = path
        self.method = method
        self.count = count
    }

    /// Reads a kind by its name, as the control route has it.
    package static func kind(named name: String, milliseconds: Int64) -> Kind? {
        let slow = Kind.slow(.milliseconds(milliseconds))
        return (Kind.plain + [slow]).first { $0.name == name }
    }
}

extension StandInFault.Kind {
    /// The kinds without a length.
    fileprivate static let plain: [Self] = [
        .lostBefore, .silent, .lostAfter, .lostMidway, .stalled, .dripping, .errorBefore,
        .errorAfter, .down, .rateLimit, .lockTimeout,
    ]

    /// The name that the control route has for it.
    package var name: String {
        switch self {
        case .lostBefore: "lost_before"
        case .silent: "silent"
        case .lostAfter: "lost_after"
        case .lostMidway: "lost_midway"
        case .stalled: "stalled"
        case .dripping: "dripping"
        case .errorBefore: "error_before"
        case .errorAfter: "error_after"
        case .down: "down"
        case .rateLimit: "rate_limit"
        case .lockTimeout: "lock_timeout"
        case .slow: "slow"
        }
    }
}
