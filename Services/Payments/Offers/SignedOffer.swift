import Crypto
import EventTypes
import Foundation
import ServiceKit
import StoreAPI

/// A merchant's decision about an offer as a request carries it, parsed but not trusted if it has a
/// ``fault``.
struct SignedOffer: Sendable {
    /// The decision that is signed.
    enum Decision: Hashable, Sendable {
        /// The account gets the promotional offer of this id.
        case promotional(id: String)
        /// The account gets the introductory offer, or does not get it (rule S48).
        case introductory(isAllowed: Bool)
    }

    /// The time for which a signature can be used.
    static let lifetime = Duration.seconds(24 * 3600)
    /// The most by which the clock of a merchant's server may be ahead.
    static let clockTolerance = Duration.seconds(5 * 60)

    let decision: Decision
    let keyID: String
    let nonce: OfferNonce
    let validFrom: MachineTime
    /// The transaction of the buyer that a JWS may name.
    let transactionID: TransactionID?
    /// The issuer that a JWS names.
    private let issuerID: String?
    private let signedBytes: [UInt8]
    private let signature: P256.Signing.ECDSASignature
    /// The reason why the decision is not one of a key of the app; `nil` if it is.
    private(set) var fault: PaymentRefusal?

    /// The time from which no instance takes the signature any more, an hour after it is too old.
    var end: MachineTime {
        validFrom.advanced(by: Self.lifetime + .seconds(3600))
    }

    /// Parses the offer of a request, and checks its signature; `nil` if it has none.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bundle: The app.
    ///   - keys: The keys with which apps sign.
    /// - Returns: The offer, perhaps with a ``fault``, or the reason to refuse it.
    static func read(
        _ request: PaymentRequest,
        in bundle: BundleID,
        signedBy keys: OfferKeys
    ) -> Result<SignedOffer, Refusal>? {
        parse(request, in: bundle)?.map { parsed in
            var offer = parsed
            offer.fault = parsed.fault(by: keys.key(parsed.keyID, of: bundle))
            return offer
        }
    }

    private static func parse(
        _ request: PaymentRequest,
        in bundle: BundleID
    ) -> Result<SignedOffer, Refusal>? {
        switch (request.discount, request.promotionalOffer, request.introductoryOfferEligibility) {
        case (nil, nil, nil): nil
        case (let discount?, nil, nil): read(discount, of: request, in: bundle)
        case (nil, let token?, nil): read(token, .promotional, of: request, in: bundle)
        case (nil, nil, let token?): read(token, .introductory, of: request, in: bundle)
        default: .failure(Refusal(.offersContradict))
        }
    }

    /// The refusal of an offer that cannot be used, and the id that it names, if it can be read.
    struct Refusal: Error, Sendable {
        /// The id of a promotional offer, which is checked first (rule S49).
        var id: String?
        var reason: PaymentRefusal

        init(of id: String? = nil, _ reason: PaymentRefusal) {
            self.id = id
            self.reason = reason
        }
    }

    /// The fault of the offer, if the key of its id did not sign it, or if there is none.
    private func fault(by key: OfferKeys.Key?) -> PaymentRefusal? {
        guard let key else { return .offerKeyUnknown(keyID) }
        if let issuerID, issuerID != key.issuerID { return .offerSignatureInvalid(.issuer) }
        return key.publicKey.isValidSignature(signature, for: signedBytes)
            ? nil : .offerSignatureInvalid(.signature)
    }

    // MARK: - The first form

    /// The separator of the signed fields: the invisible separator.
    private static let separator = "\u{2063}"

    private static func read(
        _ discount: PaymentDiscount,
        of request: PaymentRequest,
        in bundle: BundleID
    ) -> Result<SignedOffer, Refusal> {
        guard let id = discount.identifier, let keyID = discount.keyIdentifier,
            let nonce = discount.nonce, let text = discount.signature,
            let timestamp = discount.timestamp,
            !id.isEmpty, !keyID.isEmpty, !nonce.isEmpty, !text.isEmpty
        else {
            let missing = missingMembers(of: discount)
            return .failure(Refusal(of: discount.identifier, .offerIncomplete(missing: missing)))
        }
        guard let uuid = UUID(uuidString: nonce) else {
            return .failure(Refusal(of: id, .offerSignatureInvalid(.nonce)))
        }
        // Bytes that are no signature are refused like one that is missing.
        guard let der = StrictBase64.decode(Array(text.utf8)[...], .standard),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: der)
        else { return .failure(Refusal(of: id, .offerSignatureInvalid(.form))) }
        let value = uuid.uuidString.lowercased()
        let fields = [
            bundle.rawValue, keyID, request.productID.rawValue, id,
            request.applicationUsername?.lowercased() ?? "", value, String(timestamp),
        ]
        return .success(
            SignedOffer(
                decision: .promotional(id: id),
                keyID: keyID,
                nonce: OfferNonce(bundleID: bundle, value: value),
                // Numbers outside any calendar are clamped.
                validFrom: MachineTime(
                    millisecondsSinceEpoch: min(max(timestamp, 0), 1_000_000_000_000_000)
                ),
                transactionID: nil,
                issuerID: nil,
                signedBytes: Array(fields.joined(separator: separator).utf8),
                signature: signature
            )
        )
    }

    /// The names of the members that a discount needs and does not have.
    private static func missingMembers(of discount: PaymentDiscount) -> [String] {
        let members = [
            ("identifier", discount.identifier), ("keyIdentifier", discount.keyIdentifier),
            ("nonce", discount.nonce), ("signature", discount.signature),
            ("timestamp", discount.timestamp.map { String($0) }),
        ]
        return members.filter { $0.1?.isEmpty ?? true }.map(\.0)
    }

    // MARK: - The second form, and the introductory offer

    /// The use that a JWS is signed for.
    fileprivate enum Audience: String {
        case promotional = "promotional-offer"
        case introductory = "introductory-offer-eligibility"
    }

    fileprivate struct Header: Decodable {
        var alg: String
        var kid: String
        var crit: [String]?
    }

    fileprivate struct Claims: Decodable {
        var iss: String
        var iat: Double
        var aud: String
        var bid: String
        var nonce: String
        var productId: String
        /// Only for a promotional offer.
        var offerIdentifier: String?
        /// Only for the introductory offer.
        var allowIntroductoryOffer: Bool?
        var transactionId: String?

        /// The decision; `nil` if its claim is missing.
        func decision(for audience: Audience) -> Decision? {
            switch audience {
            case .promotional: offerIdentifier.map { Decision.promotional(id: $0) }
            case .introductory:
                allowIntroductoryOffer.map { Decision.introductory(isAllowed: $0) }
            }
        }
    }

    /// The largest length of a JWS that is parsed; one is a few hundred bytes long.
    private static let lengthMax = 4096

    private static func read(
        _ token: String,
        _ audience: Audience,
        of request: PaymentRequest,
        in bundle: BundleID
    ) -> Result<SignedOffer, Refusal> {
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // A part that cannot be decoded is refused like one that is missing.
        guard bytes.count <= lengthMax, parts.count == 3,
            let header = StrictBase64.decode(parts[0], .url).flatMap(Header.init(json:)),
            let claims = StrictBase64.decode(parts[1], .url).flatMap(Claims.init(json:)),
            let signature = StrictBase64.decode(parts[2], .url)
                .flatMap({ try? P256.Signing.ECDSASignature(rawRepresentation: $0) }),
            header.alg == "ES256", header.crit == nil
        else { return .failure(Refusal(.offerSignatureInvalid(.token))) }
        func refused(_ fault: PaymentRefusal.OfferFault) -> Result<SignedOffer, Refusal> {
            .failure(Refusal(of: claims.offerIdentifier, .offerSignatureInvalid(fault)))
        }
        guard claims.aud == audience.rawValue else { return refused(.audience) }
        guard let decision = claims.decision(for: audience) else { return refused(.token) }
        guard claims.bid == bundle.rawValue else { return refused(.bundle) }
        guard claims.productId == request.productID.rawValue else { return refused(.product) }
        guard let uuid = UUID(uuidString: claims.nonce) else { return refused(.nonce) }
        let transactionID = claims.transactionId.map { TransactionID(rawValue: $0) }
        if let transactionID, transactionID == nil { return refused(.customer) }
        // Numbers outside any calendar are clamped.
        let seconds = min(max(claims.iat, 0), 1e12)
        return .success(
            SignedOffer(
                decision: decision,
                keyID: header.kid,
                nonce: OfferNonce(bundleID: bundle, value: uuid.uuidString.lowercased()),
                validFrom: MachineTime(millisecondsSinceEpoch: Int64(seconds * 1000)),
                transactionID: transactionID ?? nil,
                issuerID: claims.iss,
                signedBytes: Array(bytes[..<(parts[0].count + 1 + parts[1].count)]),
                signature: signature
            )
        )
    }
}

// Most tokens are plain JSON, so Foundation's coders are not used for them.

extension SignedOffer.Header {
    /// Reads a header; `nil` if it is none.
    fileprivate init?(json bytes: [UInt8]) {
        let plain = PlainJSON.read(bytes) { Self(from: &$0) }
        guard let header = plain ?? (try? JSONDecoder().decode(Self.self, from: Data(bytes))) else {
            return nil
        }
        self = header
    }

    private init?(from json: inout PlainJSON) {
        var (alg, kid) = (String?.none, String?.none)
        let isRead = json.object { json, name in
            switch name {
            case "alg": PlainJSON.keep(json.string(), in: &alg)
            case "kid": PlainJSON.keep(json.string(), in: &kid)
            // It is refused, and seldom there.
            case "crit": false
            default: json.skip()
            }
        }
        guard isRead, let alg, let kid else { return nil }
        self.init(alg: alg, kid: kid)
    }
}

extension SignedOffer.Claims {
    /// Reads claims; `nil` if they are none.
    fileprivate init?(json bytes: [UInt8]) {
        let plain = PlainJSON.read(bytes) { Self(from: &$0) }
        guard let claims = plain ?? (try? JSONDecoder().decode(Self.self, from: Data(bytes))) else {
            return nil
        }
        self = claims
    }

    private init?(from json: inout PlainJSON) {
        var (iss, aud, bid, nonce) = (String?.none, String?.none, String?.none, String?.none)
        var (product, offer, transaction) = (String?.none, String?.none, String?.none)
        var iat: Int64?
        var allows: Bool?
        let isRead = json.object { json, name in
            switch name {
            case "iss": PlainJSON.keep(json.string(), in: &iss)
            case "iat": PlainJSON.keep(json.integer(), in: &iat)
            case "aud": PlainJSON.keep(json.string(), in: &aud)
            case "bid": PlainJSON.keep(json.string(), in: &bid)
            case "nonce": PlainJSON.keep(json.string(), in: &nonce)
            case "productId": PlainJSON.keep(json.string(), in: &product)
            case "offerIdentifier": json.null() || PlainJSON.keep(json.string(), in: &offer)
            case "allowIntroductoryOffer":
                json.null() || PlainJSON.keep(json.bool(), in: &allows)
            case "transactionId": json.null() || PlainJSON.keep(json.string(), in: &transaction)
            default: json.skip()
            }
        }
        guard isRead, let iss, let iat, let aud, let bid, let nonce, let product else {
            return nil
        }
        self.init(
            iss: iss,
            iat: Double(iat),
            aud: aud,
            bid: bid,
            nonce: nonce,
            productId: product,
            offerIdentifier: offer,
            allowIntroductoryOffer: allows,
            transactionId: transaction
        )
    }
}
