import Testing

@testable import Console

@Suite struct SentFormsTests {
    @Test func aFormIsTakenOnceUnlessItsActWasRefused() throws {
        let forms = SentForms()
        let back = CampaignForm.back
        try forms.begin("a", back: back)
        try forms.begin("b", back: back)
        let problem = #expect(throws: ConsoleProblem.self) { try forms.begin("a", back: back) }
        #expect(problem?.status == 409)
        forms.forget("a")
        try forms.begin("a", back: back)
        #expect(throws: ConsoleProblem.self) { try forms.begin("b", back: back) }
        for text in [nil, ""] as [String?] {
            #expect(throws: ConsoleProblem.self) { try forms.begin(text, back: back) }
        }
    }
}
