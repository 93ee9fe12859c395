/// The raises of all products, the newest first.
///
/// Pure.
struct RaiseListPage {
    let records: [JobRecord]
    let visitor: Visitor
    /// The number of records that cannot be read.
    var unreadableCount = 0

    var html: HTML {
        PageFrame(title: "Raises", visitor: visitor).page(
            """
            <p class="dim">A raise is begun on the page of a product.</p>
            \(JobPage.unreadable(unreadableCount))
            \(JobPage.list(records) { $0.raise.map(RaisePage.words) ?? "" })
            """
        )
    }
}
