import EventTypes
import ServiceKit
import Subscriptions

extension PriceIncreaseRules.Policy {
    /// Reads the settings.
    init(_ reader: inout SettingsReader) {
        self.init()
        let key = "PRICE_CONSENT_STOREFRONTS"
        let text = reader.string(
            "PRICE_CONSENT_STOREFRONTS",
            default: "",
            "The storefronts whose law asks for consent to every increase, such as DEU,FRA."
        )
        for code in text.split(separator: ",") {
            guard let storefront = Storefront(rawValue: String(code)) else {
                reader.refuse(key, "has \(code), which is not \(Storefront.form)")
                continue
            }
            consentStorefronts.insert(storefront)
        }
        notice = .seconds(
            86_400
                * reader.integer(
                    "PRICE_NOTICE_DAYS",
                    default: 30,
                    in: 1...366,
                    "How many days before a renewal its higher price is announced."
                )
        )
        weeklyNotice = .seconds(
            86_400
                * reader.integer(
                    "PRICE_NOTICE_DAYS_WEEKLY",
                    default: 7,
                    in: 1...366,
                    "The same for periods of days and weeks."
                )
        )
    }
}
