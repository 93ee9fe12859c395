extension Visitor {
    /// Whether the pages of a kind of job may be shown.
    ///
    /// A raise is about a product and about those who subscribe to it.
    func maySeeJobs(of kind: JobRecord.Kind) -> Bool {
        switch kind {
        case .replay, .proof, .reconciliation: maySee(.jobs)
        case .raise: maySee(.products) && maySee(.purchases)
        }
    }

    /// Whether the pages of any kind of job may be shown.
    var maySeeAnyJobs: Bool { JobRecord.Kind.allCases.contains(where: maySeeJobs) }
}
