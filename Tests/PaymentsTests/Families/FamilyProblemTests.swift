import EventTypes
import ServiceKit
import Testing

@testable import Payments

/// Answers to an administrator whose family is refused (rule S140).
@Suite struct FamilyProblemTests {
    private static let problems: [(FamilyRefusal, String)] = [
        (.unknown, "404 family_unknown: There is no family of this id."),
        (
            .tooSmall,
            "409 family_too_small: A family has an organizer and one other member at least. "
                + "Name another member, or end the family."
        ),
        (
            .tooLarge(max: 6),
            "409 family_too_large: A family has at most 6 members, its organizer included."
        ),
        (
            .repeated("ada"),
            "400 family_member_repeated: ada is named twice. A family has one organizer, who is "
                + "not among the members."
        ),
        (
            .inAnotherFamily("ben"),
            "409 in_another_family: ben has to leave its family before it joins another one."
        ),
        (
            .memberUnknown("zoe"),
            "404 family_member_unknown: zoe is not a member of this family."
        ),
        (
            .organizerStays,
            "409 family_organizer_stays: The organizer cannot leave. End the family, and make "
                + "another one."
        ),
        (
            .ended,
            "409 family_ended: A family that has ended does not change. Make another one."
        ),
    ]

    @Test func eachRefusalSaysWhatToDo() {
        for (refusal, problem) in Self.problems { #expect("\(refusal.problem)" == problem) }
    }
}
