import EventTypes

/// The buyer to whom a saved payment method belongs.
struct ProcessorBuyer: Hashable, Sendable {
    /// The processor's own id of the buyer.
    let reference: String
    /// The app in which the buyer has saved the method.
    let app: BundleID
}

/// The buyers that an account of the store is at the accounts at the processor.
struct BuyerAccounts: Hashable, Sendable {
    /// The buyer at one account at the processor.
    struct Buyer: Hashable, Sendable {
        /// The processor's own id of the buyer; `nil` if it is not known.
        let reference: String?
        /// The time at which the books got the buyer.
        let madeAt: MachineTime
    }

    /// The app of the account.
    let app: BundleID
    /// The account at the processor where the payment method was saved.
    let home: ProcessorAccountName
    /// The buyers that the books know.
    var buyers: [ProcessorAccountName: Buyer] = [:]
}
