import Metrics

/// Counts accepted, replayed and refused payment requests.
struct PaymentCounters: Sendable {
    private let accepted = Counter(label: "payments_accepted")
    private let replayed = Counter(label: "payments_replayed")
    private let refused = Counter(label: "payments_refused")

    func count(_ replies: [PaymentReply]) {
        var counts = (accepted: 0, replayed: 0, refused: 0)
        for reply in replies {
            switch reply {
            case .accepted(_, isReplay: false): counts.accepted += 1
            case .accepted(_, isReplay: true): counts.replayed += 1
            case .refused: counts.refused += 1
            }
        }
        if counts.accepted > 0 { accepted.increment(by: counts.accepted) }
        if counts.replayed > 0 { replayed.increment(by: counts.replayed) }
        if counts.refused > 0 { refused.increment(by: counts.refused) }
    }
}
