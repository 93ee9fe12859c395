import EventTypes
import HTTPTypes
import ServiceKit

extension FamilyRefusal {
    /// The HTTP problem of the refusal.
    var problem: HTTPProblem {
        switch self {
        case .unknown:
            HTTPProblem(
                .notFound,
                code: "family_unknown",
                title: "The family is unknown",
                detail: "There is no family of this id."
            )
        case .tooSmall:
            HTTPProblem(
                .conflict,
                code: "family_too_small",
                title: "The organizer would be alone",
                detail: """
                    A family has an organizer and one other member at least. Name another member, or end \
                    the family.
                    """
            )
        case .tooLarge(let max):
            HTTPProblem(
                .conflict,
                code: "family_too_large",
                title: "The family is too large",
                detail: "A family has at most \(max) members, its organizer included."
            )
        case .repeated(let account):
            .badRequest(
                "family_member_repeated",
                "An account is named twice",
                "\(account) is named twice. A family has one organizer, who is not among the members."
            )
        case .inAnotherFamily(let account):
            HTTPProblem(
                .conflict,
                code: "in_another_family",
                title: "The account is in another family",
                detail: "\(account) has to leave its family before it joins another one."
            )
        case .memberUnknown(let account):
            HTTPProblem(
                .notFound,
                code: "family_member_unknown",
                title: "The account is not a member",
                detail: "\(account) is not a member of this family."
            )
        case .organizerStays:
            HTTPProblem(
                .conflict,
                code: "family_organizer_stays",
                title: "The organizer stays",
                detail: "The organizer cannot leave. End the family, and make another one."
            )
        case .ended:
            HTTPProblem(
                .conflict,
                code: "family_ended",
                title: "The family has ended",
                detail: "A family that has ended does not change. Make another one."
            )
        }
    }
}
