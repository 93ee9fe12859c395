import Testing

/// Store time and machine time do not mix.
///
/// The compiler refuses to compare the two types or to pass one for the other. These tests see to it
/// that each thing has the type that it should have.
@Suite struct ClockTests {
    /// The code that protects a process or a connection, and so has machine time.
    private static let machineFolders = [
        "Shared/ServiceKit/Tokens/", "Shared/ServiceKit/MerchantAPI/", "Services/Operator/Tokens/",
        "Services/Receipts/Status/", "Services/Receipts/Signing/SigningChain",
        "Services/Fulfillment/Content/S3/", "Services/Fulfillment/Content/ContentUploadStore.swift",
        "Services/Fulfillment/Webhooks/WebhookSigner",
        "Services/Payments/Attempts/LeaseOwner.swift",
    ]

    /// The code with a meaning for buyers and merchants, which has store time.
    private static let storeFolders = [
        "Shared/EventTypes/Events/", "Shared/EventTypes/Values/", "Shared/StoreAPI/",
        "Shared/EventTypes/Subscriptions/", "Shared/Subscriptions/",
        "Shared/Ledger/", "Services/Catalog/", "Services/Payments/Rules/",
        "Services/Payments/Accounts/", "Services/Payments/Products/",
        "Services/Payments/Transactions/", "Services/Receipts/Issuing/",
        "Services/Receipts/Merchants/Consumption/", "Services/Receipts/VerifyReceipt/",
        "Services/Fulfillment/Queue/Queue", "Services/Fulfillment/Queue/DeliveryRules.swift",
        "Services/Fulfillment/Streams/",
    ]

    /// Names of leases, due times and validities, declared with the store's time.
    static func mistakes(in text: String) -> [Substring] {
        guard text.contains("Time") else { return [] }
        let machine =
            /\b(?:lease\w*|\w*LeaseEnd|due|dueAt|nextDue|nextAttemptAt|lastAttemptAt|takenUntil|readAgain\w*|valid(?:From|Until)|machine\w*): (?:@Sendable \(\) -> )?StoreTime\b/
            .wordBoundaryKind(.simple)
        let store =
            /\b(?:requested|purchased|revoked|finished|granted|signed|delivered|confirmed|owned|approvalEnds|reversed|expires)At: (?:@Sendable \(\) -> )?MachineTime\b/
            .wordBoundaryKind(.simple)
        return text.matches(of: machine).map(\.output) + text.matches(of: store).map(\.output)
    }

    @Test func leasesHaveMachineTimeAndPurchasesHaveStoreTime() {
        var findings = Findings()
        for file in Repository.swiftFiles where file.isProduct {
            for (line, text) in file.code where !Self.mistakes(in: text).isEmpty {
                findings.add(file, line, "give it the time of the other clock")
            }
        }
        findings.report()
    }

    @Test func foldersOfOneClockDoNotKnowTheOther() {
        let ofStore = /\b(?:StoreTime|storeNow)\b/.wordBoundaryKind(.simple)
        let ofMachines = /\b(?:MachineTime|machineNow)\b/.wordBoundaryKind(.simple)
        var findings = Findings()
        for file in Repository.swiftFiles {
            let isOfMachines = Self.machineFolders.contains(where: file.path.hasPrefix)
            let isOfStore = Self.storeFolders.contains(where: file.path.hasPrefix)
            guard isOfMachines || isOfStore else { continue }
            for (line, text) in file.code {
                if isOfMachines, text.contains(ofStore) {
                    findings.add(file, line, "this has machine time, not store time")
                }
                if isOfStore, text.contains(ofMachines) {
                    findings.add(file, line, "this has store time, not machine time")
                }
            }
        }
        findings.report()
    }

    @Test func everyFolderOfOneClockExists() {
        for place in Self.machineFolders + Self.storeFolders {
            let exists = Repository.swiftFiles.contains { $0.path.hasPrefix(place) }
            #expect(exists, "\(place)")
        }
    }

    /// The files that may read the machine's clock as the store's, and why.
    private static let edges = [
        "Services/Operator/": "a command line shows ages to people",
        "Services/Receipts/SigningMeasurement.swift": "measures, and keeps nothing",
    ]

    @Test func servicesAskOnePlaceForTheStoreTime() {
        var findings = Findings()
        for file in Repository.swiftFiles
        where file.isProduct && !Self.edges.keys.contains(where: file.path.hasPrefix) {
            for (line, text) in file.code where text.contains(".wallClock()") {
                findings.add(file, line, "take the store's time from the frame or the client")
            }
        }
        findings.report()
    }

    @Test(arguments: [
        "let dueAt: StoreTime", "var nextDue: StoreTime?", "until leaseEnd: StoreTime,",
        "let validUntil: StoreTime", "let purchasedAt: MachineTime",
        "let machineNow: @Sendable () -> StoreTime", "var approvalEndsAt: MachineTime?",
    ])
    func aMixUpIsFound(_ text: String) {
        #expect(Self.mistakes(in: text).count == 1)
    }

    @Test(arguments: [
        "let dueAt: MachineTime", "var approvalEndsAt: StoreTime?", "let revokedAt: StoreTime?",
        "let now: @Sendable () -> StoreTime",
    ])
    func theRightClockIsNot(_ text: String) {
        #expect(Self.mistakes(in: text).isEmpty)
    }
}
