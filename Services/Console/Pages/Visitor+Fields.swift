extension Visitor {
    /// The field by which a form proves that a page of the session sent it.
    var csrfField: HTML { "<input type=\"hidden\" name=\"csrf\" value=\"\(session.csrf)\">" }
}
