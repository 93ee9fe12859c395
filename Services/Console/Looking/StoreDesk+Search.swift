import EventTypes
import OperatorCore

/// The search: the page of whatever an id or a word names.
extension StoreDesk {
    private var ids: IDSearchReader { IDSearchReader(databases: databases) }

    /// The path of what a search finds; `nil` if it finds nothing that the visitor may see.
    ///
    /// A text can be several things. Purchases and accounts come first: they are looked for most.
    func path(of text: SearchText, for visitor: Visitor) async throws -> String? {
        if let letter = text.letter, visitor.maySee(.deadLetters) {
            return "/dead-letters/\(letter.service.rawValue)/\(letter.id)"
        }
        for id in text.transactions where try await reader.knows(id) { return "/purchases/\(id)" }
        if let account = text.account, try await isKnown(account) {
            return PlainWords.path(ofAccount: account.rawValue)
        }
        if visitor.maySee(.products), let path = try await path(ofSale: text) { return path }
        if let family = text.family, let organizer = try await ids.organizer(of: family) {
            return PlainWords.path(ofAccount: organizer.rawValue)
        }
        if let event = text.event, let found = try await reader.event(event) {
            return try await path(of: found, for: visitor)
        }
        if let event = text.event, let id = try await ids.transaction(notifiedBy: event) {
            return "/purchases/\(id)"
        }
        if let dispute = text.dispute, let id = try await ids.transaction(disputedBy: dispute) {
            return "/purchases/\(id)"
        }
        if let reference = text.reference,
            let id = try await ids.transaction(movedBy: reference)
        {
            return "/purchases/\(id)"
        }
        if let trace = text.trace, let found = try await ids.event(in: trace) {
            return try await path(of: found, for: visitor)
        }
        return nil
    }

    /// Whether an account has a page.
    private func isKnown(_ account: AccountID) async throws -> Bool {
        if try await reader.story(of: account, limit: 1) != nil { return true }
        return try await AccountHoldingsReader(databases: databases).hasStanding(account)
    }

    /// The page of a product, or of a campaign of offer codes.
    private func path(ofSale text: SearchText) async throws -> String? {
        if let product = text.product, try await ids.knows(product) {
            return PlainWords.path(ofProduct: product)
        }
        if let campaign = text.campaign, try await ids.knows(campaign: campaign) {
            return "/codes/\(campaign)"
        }
        guard let code = text.code else { return nil }
        return try await ids.campaign(of: code).map { "/codes/\($0)" }
    }

    /// The page of what an event is about.
    private func path(of event: FoundEvent, for visitor: Visitor) async throws -> String? {
        if event.topic == Topics.catalogProducts.name {
            // The key is that of a product, or of a group, which has no page.
            guard visitor.maySee(.products), let product = ProductID(rawValue: event.key),
                try await ids.knows(product)
            else { return nil }
            return PlainWords.path(ofProduct: product)
        }
        if let id = TransactionID(rawValue: event.subject), try await reader.knows(id) {
            return "/purchases/\(id)"
        }
        return AccountID(rawValue: event.key).map { PlainWords.path(ofAccount: $0.rawValue) }
    }
}
