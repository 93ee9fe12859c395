import StoreAPI

/// A processor that refuses every payment method and charges nobody.
///
/// It is used in production, unless `PROCESSOR` names another one. Attempts in the database
/// wait, because their outcomes are unknown here.
struct UnconfiguredProcessor: PaymentProcessor {
    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? { nil }

    func refusal(of paymentMethod: PaymentMethod) -> PaymentRefusal? {
        .paymentMethodNotAvailable(paymentMethod)
    }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool { false }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        for request in requests { answer(request.attemptID, .unavailable) }
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        for inquiry in inquiries { answer(inquiry.attemptID, .unavailable) }
    }

    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        for search in searches { answer(search.attemptID, .unavailable) }
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        for inquiry in inquiries { answer(inquiry.attemptID, .unavailable) }
    }

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        for call in calls { answer(call.attemptID, .unavailable) }
    }

    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        for call in calls { answer(call.attemptID, .unavailable) }
    }
}
