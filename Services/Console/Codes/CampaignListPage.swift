import EventTypes
import OperatorCore
import StoreAPI

/// A page of campaigns of offer codes, the newest first, and the form that makes one.
///
/// Pure.
struct CampaignListPage {
    let found: CodeCampaignsResponse
    /// The text by which the form is recognised if it is sent twice.
    let formText: String
    let visitor: Visitor
    /// The offer whose page has led here, so that nobody types its ids; `nil` if none has.
    var offer: Offer?

    /// An offer that codes can give.
    struct Offer: Hashable, Sendable {
        let productID: ProductID
        let id: OfferID

        /// Reads an offer from the query of an address; `nil` if there is none.
        init?(_ fields: FormFields?) {
            guard let product = fields?["product"].flatMap({ ProductID(rawValue: $0) }),
                let offer = fields?["offer"].flatMap({ OfferID(rawValue: $0) })
            else { return nil }
            productID = product
            id = offer
        }
    }

    var html: HTML {
        PageFrame(title: "Codes", visitor: visitor).page("\(form)\(rows)\(older)")
    }

    private var form: HTML {
        guard visitor.mayAct(as: .merchandiser) else { return "" }
        // The app of the newest campaign of the product is most likely the one that is meant.
        let app = found.campaigns.first { $0.productID == offer?.productID }?.bundleID
        let opened: HTML = offer == nil ? "" : " open"
        return """
            <details class="card"\(opened)><summary>Make codes</summary>
            <form class="editor" method="post" action="/codes">
            <p class="dim">A code gives a code offer of a product, which the catalog must have. One-time codes are shown \
            once, when they are made. A custom code is a word that many people redeem, each of them once.</p>
            <fieldset><legend>The offer</legend>
            \(field("app", "App, by its bundle id", app?.rawValue, isRequired: true))
            \(field("product", "Subscription", offer?.productID.rawValue, isRequired: true))
            \(field("offer", "Code offer", offer?.id.rawValue, isRequired: true))
            </fieldset>
            <fieldset><legend>The codes</legend>
            \(field("count", "Number of one-time codes, or of redemptions of a custom code", isRequired: true))
            \(field("word", "Custom code, 4 to 64 letters and digits; empty for one-time codes"))
            \(field("expires", "Valid until, in UTC, such as 2027-06-30T22:00:00Z; empty for no end"))
            </fieldset>
            <label>Reason; it stays in the books with your name \
            <input name="reason" required maxlength="500" autocomplete="off"></label>
            <input type="hidden" name="form" value="\(formText)">
            \(visitor.csrfField)<button>Make codes</button>
            </form></details>
            """
    }

    private func field(
        _ name: String,
        _ words: String,
        _ value: String? = nil,
        isRequired: Bool = false
    ) -> HTML {
        let required: HTML = isRequired ? " required" : ""
        return """
            <label>\(words) <input name="\(name)" value="\(value ?? "")" autocomplete="off" spellcheck="false"\(required)></label>
            """
    }

    private var rows: HTML {
        guard !found.campaigns.isEmpty else {
            return "<p class=\"empty\" role=\"status\">There are no campaigns of codes here.</p>"
        }
        return "<ol class=\"rows\">\(found.campaigns.map(row))</ol>"
    }

    private func row(_ campaign: CodeCampaign) -> HTML {
        let state = CampaignPage.state(of: campaign)
        return """
            <li class="card row"><a href="/codes/\(campaign.id)">\(CampaignPage.title(of: campaign))</a>
            <span class="tone-\(state.tone.rawValue)">\(state.text)</span>
            <span>\(campaign.redemptions.grouped) of \(campaign.count.grouped) redeemed</span>
            <span class="dim">\(campaign.offerID) of \(campaign.productID) in \(campaign.bundleID)</span></li>
            """
    }

    private var older: HTML {
        guard let next = found.next else { return "" }
        return "<p><a href=\"/codes?before=\(next)\">Older ones</a></p>"
    }
}
