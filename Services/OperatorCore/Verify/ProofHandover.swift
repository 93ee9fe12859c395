package import EventTypes

/// The findings of a proof that was made elsewhere, as the command line sends them to the console.
///
/// Pure.
package struct ProofHandover: Codable, Sendable {
    /// The path at the console.
    package static let path = "/reports"
    /// The most differences of a service that are sent; the numbers count all of them.
    static let differencesMax = 100

    /// The id of the proof, by which the console keeps it once.
    package let id: EventID
    /// The findings.
    package let report: VerificationReport

    /// Makes the message about a proof.
    package init(id: EventID, report: VerificationReport) {
        var report = report
        report.keep(differences: Self.differencesMax)
        self.id = id
        self.report = report
    }
}
