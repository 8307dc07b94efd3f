/// The counts of what a ``DNSResolver`` has done so far.
public struct DNSStatistics: Hashable, Sendable {
    /// The number of questions. A look-up of addresses asks two questions for each name that it tries.
    public var questions = 0
    /// The number of questions answered from the cache.
    public var cacheHits = 0
    /// The number of questions that shared the answer of a running query.
    public var shared = 0
    /// The number of queries sent to name servers by UDP. If an answer does not fit into a datagram, a second query
    /// asks for a larger one.
    public var queries = 0
    /// The number of datagrams that did not answer the query. A few may be late answers. Many may be an attempt to
    /// forge answers.
    public var ignoredAnswers = 0
    /// The number of answers that did not arrive in a larger datagram either, so that the query was repeated by TCP.
    public var truncatedAnswers = 0
    /// The number of queries without an answer in time.
    public var silences = 0
}

/// The statistics of a resolver, which outlive its configuration.
final class DNSCounts {
    var value = DNSStatistics()
}
