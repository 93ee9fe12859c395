import ClockAndIDs
import Crypto
import EventTypes
import Foundation
import Logging
import ReceiptValidation
import ServiceKit

extension ServiceCommand {
    /// `receipts measure`: signs, verifies and builds receipts on one thread, as the service and its
    /// clients do, and prints the best time of each as one line of JSON.
    ///
    /// `make signing` runs it. It is a command of the service, and not of a tool, because it
    /// measures the code that the service signs with, which no other executable contains. Times are
    /// processor time of this process. The best of several rounds counts, because other work on the
    /// machine can only add time.
    static let measure = ServiceCommand(
        "measure",
        "measure on one core what a signature, a check and a receipt cost, then exit"
    ) { reader, _ in
        let now = StoreTime.wallClock()
        let (environment, chain) = try ReceiptsSettings.signing(&reader, now: .now())
        try reader.check()
        return {
            let measurement = try SigningMeasurement(
                chain: chain,
                environment: environment,
                at: now
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(try measurement.run()), as: UTF8.self) + "\n"
        }
    }
}

/// Measures the steps of issuing and verifying a receipt.
struct SigningMeasurement {
    /// The best times, each in microseconds.
    struct Result: Encodable {
        /// Signing one transaction: writing the payload, hashing it with the header, and the
        /// signature.
        var signing = Double.infinity
        /// One P-256 verification of a hash that has been computed already.
        var bareCheck = Double.infinity
        /// One JWS verified, with its chain verified before.
        var verification = Double.infinity
        /// One app receipt of ``SigningMeasurement/entries`` purchases, from stored payloads to
        /// DER.
        var receipt = Double.infinity
    }

    /// The number of purchases in the app receipt.
    static let entries = 1000
    private static let rounds = 4
    private static let roundSeconds = 0.25

    private let signer: ReceiptSigner
    private let receiptSigner: AppReceiptSigner
    private let validator: ReceiptValidator
    private let now: StoreTime
    private let transaction: Transaction
    private let jws: String
    private let digest: SHA256.Digest
    private let signature: P256.Signing.ECDSASignature
    private let payloads: [[UInt8]]

    init(chain: SigningChain, environment: StoreEnvironment, at now: StoreTime) throws {
        self.now = now
        signer = ReceiptSigner(
            chain: chain,
            environment: environment,
            machineNow: MachineTime.now
        )
        receiptSigner = try AppReceiptSigner(chain: chain, machineNow: MachineTime.now)
        validator = ReceiptValidator(
            ReceiptTrust(roots: [chain.rootCertificate], environment: environment.ofReceipts)
        )
        transaction = Self.transaction(1, at: now)
        let signed = try signer.sign(transaction, at: now)
        jws = JWSSerialization.joined(
            header: chain.header,
            payload: signed.payload,
            signature: signed.signature
        )
        digest = SHA256.hash(data: Data(jws.utf8.prefix { $0 != UInt8(ascii: ".") }))
        signature = try chain.privateKey.signature(for: digest)
        let signer = signer
        payloads = try (1...Self.entries).map { number in
            try signer.sign(Self.transaction(Int64(number), at: now), at: now).payload
        }
    }

    /// Runs the measurement.
    func run() throws -> Result {
        var result = Result()
        let key = signer.chain.privateKey.publicKey
        for _ in 0..<Self.rounds {
            result.signing = min(
                result.signing,
                try time { _ = try signer.sign(transaction, at: now) }
            )
            result.bareCheck = min(
                result.bareCheck,
                try time { guard key.isValidSignature(signature, for: digest) else { throw bug } }
            )
            result.verification = min(
                result.verification,
                try time { _ = try validator.verify(jws, as: JWSTransaction.self) }
            )
            result.receipt = min(result.receipt, try time { _ = try receipt() })
        }
        return result
    }

    private func receipt() throws -> DERBytes {
        let content = AppReceiptContent(
            account: transaction.accountID,
            bundleID: transaction.bundleID,
            environment: signer.environment,
            question: AppReceiptQuestion(),
            entries: try payloads.map { payload in try AppReceiptEntry(payload: payload) }
        )
        return try receiptSigner.sign(content.encoded(at: now))
    }

    /// Returns the mean time of one round, in microseconds.
    private func time(_ work: () throws -> Void) throws -> Double {
        var count = 0
        let start = Self.processorSeconds()
        var elapsed = 0.0
        repeat {
            // The clock is read only every ten runs, so that reading it hardly counts.
            for _ in 0..<10 { try work() }
            count += 10
            elapsed = Self.processorSeconds() - start
        } while elapsed < Self.roundSeconds
        return elapsed * 1e6 / Double(count)
    }

    /// Returns the processor time of this process, which has one working thread.
    private static func processorSeconds() -> Double {
        Double(clock()) / Double(CLOCKS_PER_SEC)
    }

    private var bug: ReceiptsError {
        ReceiptsError(
            code: .storedReceiptMalformed,
            detail: "The signature that was just made does not verify."
        )
    }

    private static func transaction(_ number: Int64, at now: StoreTime) -> Transaction {
        Transaction(
            id: TransactionID(number: 1_000_000_000_000 + number),
            originalID: TransactionID(number: 1_000_000_000_000 + number),
            reason: .purchase,
            version: 2,
            state: .purchased,
            accountID: AccountID(unchecked: "measured"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.coins.100"),
            productVersion: 1,
            productType: .nonConsumable,
            quantity: 1,
            storefront: Storefront(unchecked: "USA"),
            price: Money(minorUnits: 99, currency: Currency(unchecked: "USD")),
            applicationUsername: nil,
            deliveryPlan: [],
            requestedAt: now,
            purchasedAt: now,
            originalPurchasedAt: now,
            revokedAt: nil
        )
    }
}
