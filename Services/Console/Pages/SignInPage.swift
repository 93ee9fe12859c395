/// The page on which a ticket begins a session.
///
/// Pure.
struct SignInPage {
    /// The problem of the last try; `nil` at first.
    var problem: String?

    var html: HTML {
        PageFrame(title: "Sign in", visitor: nil).page(
            """
            <section class="card narrow">
            \(problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" as HTML })
            <p>This command prints an address that signs you in, once and within a minute:</p>
            <pre><code>counterfoil console ticket</code></pre>
            <form id="sign-in" method="post" action="/session">
            <label for="ticket">Or paste the ticket</label>
            <input id="ticket" name="ticket" required autocomplete="off" spellcheck="false">
            <button>Sign in</button>
            </form>
            </section>
            """
        )
    }
}
