/// A page of acts.
package struct ActPage: Sendable {
    /// The acts, newest first.
    package let acts: [RecordedAct]
    /// The place where the next page begins; `nil` on the last page.
    package let next: String?
    /// The last month whose acts have left the database; `nil` if all are there.
    package let archivedMonth: String?

    package init(acts: [RecordedAct], next: String?, archivedMonth: String?) {
        self.acts = acts
        self.next = next
        self.archivedMonth = archivedMonth
    }
}
