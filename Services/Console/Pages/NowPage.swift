import OperatorCore

/// The first page: whether the store is well, and how far each part is behind.
///
/// Pure.
struct NowPage {
    let sample: NowSample
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Now", visitor: visitor, live: "/now").page(
            """
            <p class="verdict" role="status">\(field("verdict", named: nil))</p>
            <section aria-labelledby="rates"><h2 id="rates">At present</h2>
            <dl class="card facts">\(NowRates.kinds.map { fact("rate.\($0.name)", $0.words) })</dl>
            \(line)
            \(newest)
            </section>
            <section aria-labelledby="services"><h2 id="services">Services</h2>
            <div class="cards">\(OperatedService.allCases.map(card))</div>
            </section>
            <section aria-labelledby="work"><h2 id="work">Waiting work</h2>
            <dl class="card facts">\(NowFields.work.map { key, words in fact("work.\(key)", words) })</dl>
            <p class="dim">An app finishes a purchase once it has given the buyer what was bought. Until then the purchase \
            comes again whenever the app starts, so nothing is lost by waiting.</p>
            </section>
            <section aria-labelledby="lag"><h2 id="lag">Consumers</h2>
            \(consumers)
            </section>
            <section aria-labelledby="hops"><h2 id="hops">From an event to its effect</h2>
            \(hops)
            </section>
            <p class="dim">The server’s clock: \(field("clock", named: nil))</p>
            """
        )
    }

    private var fields: [String: NowField] { NowFields.fields(of: sample) }

    private func card(_ service: OperatedService) -> HTML {
        let name = service.rawValue
        return """
            <section class="card" aria-labelledby="service-\(name)">
            <h3 id="service-\(name)">\(name)</h3>
            <dl class="facts">
            \(fact("\(name).health", "health"))\(fact("\(name).version", "version"))
            \(fact("\(name).outbox", "to publish"))\(fact("\(name).dead", "dead letters"))
            \(fact("\(name).parked", "parked behind them"))
            </dl>
            \(letters(of: service))
            </section>
            """
    }

    private func letters(of service: OperatedService) -> HTML {
        guard OperatedService.consumers.contains(service), visitor.maySee(.deadLetters) else {
            return ""
        }
        return "<p><a href=\"/dead-letters\">What \(service.rawValue) could not apply</a></p>"
    }

    private var newest: HTML {
        visitor.maySee(.purchases) ? "<p><a href=\"/purchases\">The newest purchases</a></p>" : ""
    }

    /// The purchases of the last minutes; the words below say what the line shows.
    private var line: HTML {
        """
        <figure class="card">
        <svg class="line" role="img" aria-labelledby="line-words" preserveAspectRatio="none" \
        viewBox="0 0 \(NowLine.size.width) \(NowLine.size.height)">\
        <polyline data-line="line.points" points="\(fields["line.points"]?.text ?? "")"/></svg>
        <figcaption id="line-words">\(field("line.words", named: nil))</figcaption>
        </figure>
        """
    }

    private var consumers: HTML {
        guard let lag = sample.lag else {
            return
                "<p class=\"problem\">Nobody knows how far the consumers are: \(sample.lagProblem ?? "")</p>"
        }
        let facts: [HTML] = lag.consumers.map { entry in
            fact("lag.\(entry.consumer).\(entry.topic)", "\(entry.consumer) reads \(entry.topic)")
        }
        return "<dl class=\"card facts\">\(facts)</dl>"
    }

    /// The times that consumers took; with several replicas, those of the one that was asked.
    private var hops: HTML {
        let facts: [HTML] = NowHops.pairs.map { consumer, topic in
            fact(NowHops.key(of: consumer, topic), "\(consumer.rawValue) acts on \(topic)")
        }
        return """
            <dl class="card facts">\(facts)</dl>
            <p class="dim">How long each consumer took to act on the events of the last minute. The first values come ten \
            seconds after somebody has opened this page. Of a service that runs several times, one replica is asked.</p>
            """
    }

    private func fact(_ key: String, _ words: String) -> HTML {
        "<div><dt>\(words)</dt><dd>\(field(key, named: words))</dd></div>"
    }

    private func field(_ key: String, named words: String?) -> HTML {
        let field = fields[key] ?? NowField("unknown", .warn)
        return
            "<span data-field=\"\(key)\" class=\"tone-\(field.tone.rawValue)\">\(field.text)</span>"
    }
}
