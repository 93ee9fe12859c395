/// The words of the refusals that finishes and downloads have in common.
enum TransactionProblem {
    typealias Words = (title: String, detail: String)

    static let unknown: Words = (
        "The transaction is unknown",
        "The account's queue has no transaction of this id in this app."
    )
    static let purchasing: Words = (
        "The transaction is still purchasing",
        "Wait until the queue reports it as purchased or failed."
    )
    static let deferred: Words = (
        "The transaction waits for approval",
        "Wait until the queue reports it as purchased or failed."
    )

    /// The words for a state that only a newer version of the store knows.
    static func unknownState(_ remedy: String) -> Words {
        ("The transaction's state is unknown", remedy)
    }
}
